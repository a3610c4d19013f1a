"""What was measured, and figures made of it."""

from sides import median


def ratio_of(seconds, of="llama.cpp", over="imbrex"):
    """How many times as fast `over` is as `of`: the median of each turn's ratio. None without a peer."""
    if of not in seconds or over not in seconds:
        return None
    return median([a / b for a, b in zip(seconds[of], seconds[over])])


class Results:
    """What was measured, and figures made of it."""

    def __init__(self, results):
        self.all, self.m = results, results["measured"]
        self.threads = str(results["machine"]["threads"])

    def limit(self, name, threads=None):
        entry = self.m.get("limits", {}).get(threads or self.threads, {}).get(name, {})
        return entry.get("rate")

    def groups(self, prefix):
        """Groups of a kind that have numbers: [(what is behind the prefix, group)]."""
        return [(name[len(prefix):].strip(), g) for name, g in self.m.items()
                if name.startswith(prefix) and "missing" not in g]

    def bandwidth_share(self, group):
        """Bytes of weights a second over what memory gave in the same turn: the median of the turns."""
        rates = zip(group["seconds"]["decode"]["imbrex"], group["read"])
        return median([group["hello"]["bytes_per_token"] / taken / read for taken, read in rates])

    def isa_groups(self, isa):
        """Where a set is the machine's best, whole models were timed on it already."""
        found = self.groups(f"isa {isa}")
        return found or [(n.split()[-1], g) for n, g in self.groups("model ")
                         if g["hello"]["isa"] == isa and "prompt" in g["seconds"]]

    def by_format(self, prefix, formats):
        found = dict(self.groups(prefix))
        return [(f, found[f]) for f in formats if f in found]
