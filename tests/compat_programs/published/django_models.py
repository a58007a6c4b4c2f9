"""django-cassandra-engine: its management commands, and models through Django's settings."""
# ruff: noqa: T201  (a program prints)

import sys
import uuid

import django
from django.conf import settings
from django.core.management import call_command

address, keyspace = sys.argv[1:]
settings.configure(
    INSTALLED_APPS=["django_cassandra_engine", "shop"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={
        "default": {
            "ENGINE": "django_cassandra_engine",
            "NAME": keyspace,
            "HOST": address,
            "OPTIONS": {
                "replication": {"strategy_class": "SimpleStrategy", "replication_factor": 1},
                "connection": {"lazy_connect": False, "retry_connect": True},
                "session": {"default_timeout": 30, "default_fetch_size": 50},
            },
        }
    },
)
django.setup()
from django.db import connection  # noqa: E402  (after the settings)
from shop.models import Word  # noqa: E402

call_command("sync_cassandra", verbosity=0)
Word.objects.create(language="en", word="bind", identity=uuid.UUID(int=1), uses=[1, 2])
for number in range(120):
    Word.objects.create(language="pl", word=f"w{number:03}", identity=uuid.UUID(int=number))
print(Word.objects.filter(language="pl").count(), len(list(Word.objects.filter(language="pl"))))
one = Word.objects.get(language="en", word="bind")
print(dict(one))
one.update(uses=[3])
print(Word.objects.filter(language="en").values_list("word", "uses")[:])
Word.objects.filter(language="pl", word="w000").delete()
print(Word.objects.filter(language="pl").first().word)
with connection.cursor() as cursor:
    rows = cursor.execute(f"SELECT word FROM {keyspace}.words WHERE language = 'en'")
    print([tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows])
print(list(connection.introspection.table_names()))
cluster = connection.connection.cluster
cluster.connect().execute(f"DROP KEYSPACE {keyspace}", timeout=30)
cluster.shutdown()
