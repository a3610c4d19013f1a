"""What was measured, and figures made of it."""

from machine import slug
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
        self.machine, self.slug = results["machine"], slug(results["machine"])
        self.threads = str(self.machine["threads"])

    def _limit(self, name, threads=None):
        return self.m.get("limits", {}).get(threads or self.threads, {}).get(name, {})

    def limit(self, name, threads=None):
        return self._limit(name, threads).get("rate")

    def lacks(self, isa):
        """Whether the machine, or its system, has not the set."""
        return isa not in self.machine["sets"] or "missing" in self._limit(isa)

    def groups(self, prefix):
        """Groups of a kind that have numbers: [(what is behind the prefix, group)]."""
        return [(name[len(prefix):].strip(), g) for name, g in self.m.items()
                if name.startswith(prefix) and "missing" not in g]

    def main_shape(self):
        """The model that most is measured of."""
        return next((g["shape"] for _, g in self.groups("model ")), "none")

    def shipped(self):
        """SmolLM2 as a group like other models, if it was timed."""
        g = self.m.get("smollm2", {})
        return g | {"shape": "SmolLM2-135M as shipped", "format": "Q4_1"} if g.get("seconds") else None

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

    def losses(self):
        """Every comparison that imbrex lost: [(work, who was faster, ratio)], the worst first."""
        found = []
        for name, g in self.m.items():
            for what, seconds in g.get("seconds", {}).items():
                if isinstance(seconds, dict) and what != "beyond":
                    found.append((f"{name}, {what}", "llama.cpp", ratio_of(seconds)))
        g = self.m.get("products f32", {}).get("seconds", {})
        found += [("products f32", side, ratio_of(g, side)) for side in g if side != "imbrex"]
        return sorted((row for row in found if row[2] is not None and row[2] < 1), key=lambda row: row[2])
