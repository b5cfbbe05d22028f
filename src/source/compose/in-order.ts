/** Each part after those that it uses; those of a circle, and what waits for it, are left over. Pure. */
export function inOrder<Part extends { readonly uses: readonly string[] }>(
  parts: readonly Part[],
  nameOf: (part: Part) => string,
): { readonly ordered: readonly Part[]; readonly circle: readonly string[] } {
  const ordered: Part[] = []
  let left = [...parts]
  while (left.length > 0) {
    const done = new Set(ordered.map(nameOf))
    const next = left.filter(({ uses }) => uses.every((name) => done.has(name)))
    if (next.length === 0) break
    ordered.push(...next)
    left = left.filter((one) => !next.includes(one))
  }
  return { ordered, circle: left.map(nameOf) }
}
