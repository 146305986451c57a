from celery import shared_task


@shared_task(ignore_result=True)
def refresh_catalogues() -> None:
    from models_registry.catalogue import discovery

    discovery.refresh_catalogues()
