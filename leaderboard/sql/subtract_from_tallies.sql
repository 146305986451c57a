UPDATE {table} AS tally SET n = tally.n - given.less
FROM unnest({arrays}, %s::int[]) AS given ({key}, less)
WHERE ({tally_key}) = ({given_key}) AND tally.n >= given.less
