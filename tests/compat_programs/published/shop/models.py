"""Its models, which are tables."""

from cassandra.cqlengine import columns
from django_cassandra_engine.models import DjangoCassandraModel


class Word(DjangoCassandraModel):
    """A word of a language."""

    __table_name__ = "words"
    language = columns.Text(primary_key=True, max_length=20)
    word = columns.Text(primary_key=True, clustering_order="ASC")
    identity = columns.UUID()
    uses = columns.List(columns.Integer)

    class Meta:
        """As Django wants it."""

        get_pk_field = "language"
