INSERT INTO {table} AS tally ({key}, n) {counted}
ON CONFLICT ({key}) DO UPDATE SET n = tally.n + excluded.n
