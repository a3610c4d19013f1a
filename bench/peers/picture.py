"""A roofline as SVG: rates against FLOP a byte, both axes logarithmic."""

import math

from sides import median

INK, FAINT = "#222222", "#cccccc"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # Okabe and Ito 2008


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Roofline:
    """`read` bytes a second; `peaks` {name: FLOP a second}; points (name, FLOP a byte, FLOP a second, colour, hollow)."""

    LEFT, TOP, WIDTH, HEIGHT = 70, 40, 520, 380

    def __init__(self, title, read, peaks, points):
        points = [p for p in points if p[1] > 0 and p[2] > 0]
        self.x = self._decades([p[1] for p in points] + [0.4])
        self.y = self._decades([p[2] for p in points] + list(peaks.values()))
        legend = max(len(points) + 1, 4)
        height = max(self.TOP + self.HEIGHT + 60, self.TOP + 16 * legend + 20)
        self.body = [f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" '
                     f'viewBox="0 0 900 {height}" font-family="sans-serif">',
                     f"<title>{escaped(title)}</title>", f'<rect width="900" height="{height}" fill="#ffffff"/>']
        self._axes(title)
        self._roofs(read, peaks)
        for number, point in enumerate(points):
            self._point(number + 1, *point)
        self.body.append("</svg>")

    @staticmethod
    def _decades(values):
        return math.floor(math.log10(min(values)) - 0.05), math.ceil(math.log10(max(values)) + 0.1)

    def _at(self, x, y):
        (x0, x1), (y0, y1) = self.x, self.y
        return (self.LEFT + (math.log10(x) - x0) / (x1 - x0) * self.WIDTH,
                self.TOP + self.HEIGHT - (math.log10(y) - y0) / (y1 - y0) * self.HEIGHT)

    def _line(self, a, b, colour=INK, width=1.0, dashes=""):
        extra = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.body.append(f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{colour}" '
                         f'stroke-width="{width}"{extra}/>')

    def _text(self, at, text, anchor="start", size=11, turn=0):
        turned = f' transform="rotate({turn} {at[0]:.1f} {at[1]:.1f})"' if turn else ""
        self.body.append(f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size}" text-anchor="{anchor}" '
                         f'fill="{INK}"{turned}>{escaped(text)}</text>')

    def _axes(self, title):
        bottom = self.TOP + self.HEIGHT
        for e in range(self.x[0], self.x[1] + 1):
            x = self._at(10.0**e, 10.0 ** self.y[0])[0]
            self._line((x, self.TOP), (x, bottom), FAINT, 0.5)
            self._text((x, bottom + 15), f"{10.0**e:g}", "middle")
        for e in range(self.y[0], self.y[1] + 1):
            y = self._at(1, 10.0**e)[1]
            self._line((self.LEFT, y), (self.LEFT + self.WIDTH, y), FAINT, 0.5)
            self._text((self.LEFT - 6, y + 4), f"{10.0 ** (e - 9):g}", "end")
        self._text((self.LEFT + self.WIDTH / 2, self.TOP - 12), title, "middle", 13)
        self._text((self.LEFT + self.WIDTH / 2, bottom + 34), "FLOP a byte of weights, keys and values", "middle", 12)
        self._text((self.LEFT - 46, self.TOP + self.HEIGHT / 2), "GFLOP/s", "middle", 12, -90)

    def _roofs(self, read, peaks):
        low, high = 10.0 ** self.x[0], 10.0 ** self.x[1]
        top, floor = max(peaks.values()), 10.0 ** self.y[0]
        start = max(low, floor / read)
        self._line(self._at(start, start * read), self._at(min(top / read, high), min(top, high * read)), INK, 1.6)
        for name, peak in peaks.items():
            self._line(self._at(max(low, peak / read), peak), self._at(high, peak), INK, 1.2,
                       "" if peak == top else "5 3")
            end = self._at(high, peak)
            self._text((end[0] - 4, end[1] - 5), f"{name}, {peak / 1e9:.0f}", "end", 10)
        x, y = self._at(start, start * read)
        self._text((self.LEFT + 8, self.TOP + 16), f"slope: {read / 1e9:.1f} GB/s read from memory", size=10)

    def _point(self, number, name, intensity, rate, colour, hollow):
        x, y = self._at(intensity, rate)
        fill = "#ffffff" if hollow else colour
        self.body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>')
        self._text((x + 6, y + (12 if hollow else -4)), str(number), size=9)
        at = self.LEFT + self.WIDTH + 22, self.TOP + 16 * number
        self.body.append(f'<circle cx="{at[0]}" cy="{at[1] - 4}" r="4" fill="{fill}" stroke="{colour}" '
                         'stroke-width="1.5"/>')
        self._text((at[0] + 10, at[1]), f"{number}  {name}", size=10)

    def __str__(self):
        return "\n".join(self.body) + "\n"


def rooflines(r):
    """{what it is of: SVG}, of those for which there are numbers."""
    read = r.limit("read")
    peaks = {label: r.limit(name) for name, label in (("avx2", "AVX2 f32"), ("avx512", "AVX-512 f32"), ("amx", "AMX BF16"))
             if r.limit(name)}
    if not read or not peaks:
        return {}
    kernel_points = []
    for i, group in enumerate(("kernels gemv", "kernels matmul", "kernels attention")):
        for name, row in r.m.get(group, {}).get("rows", {}).items():
            if "FLOP" in row and row.get("bytes"):
                kernel_points.append((f"{group.split()[1]} {name}", row["FLOP"] / row["bytes"], row["FLOP"], COLOURS[i], False))
    model_points = []
    for prefix in ("model ", "long ", "smollm2"):
        for name, g in r.groups(prefix):
            hello, label = g["hello"], (name or "SmolLM2 Q4_1")
            for what, flops in (("decode", hello["flops_per_token"]), ("prompt", g.get("flops", {}).get("prompt"))):
                for side, seconds in g["seconds"].get(what, {}).items():
                    model_points.append((f"{label} {what}" + ("" if side == "imbrex" else ", llama.cpp"),
                                         flops / hello["bytes_per_token"], flops / median(seconds),
                                         COLOURS[what == "prompt"], side != "imbrex"))
    titled = {"kernels": ("Kernels", kernel_points),
              "models": ("Whole models (filled: imbrex; hollow: llama.cpp)", model_points)}
    return {of: str(Roofline(title, read, peaks, points)) for of, (title, points) in titled.items() if points}
