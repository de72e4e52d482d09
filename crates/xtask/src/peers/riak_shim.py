"""Names that the client of Riak looks for where Python 3.11 does not have them; imported by Python at its start."""

import collections
import collections.abc
import mimetypes

for name in ("Callable", "Iterable", "Mapping", "MutableMapping", "Sequence", "Set", "Sized"):
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))

named_tuple = collections.namedtuple


def without_verbose(*args, **options):
    """As `namedtuple`, which took `verbose` until Python 3.7."""
    options.pop("verbose", None)
    return named_tuple(*args, **options)


collections.namedtuple = without_verbose

# A test expects that nobody knows the media type of README.md.
mimetypes.init()
mimetypes.types_map.pop(".md", None)
