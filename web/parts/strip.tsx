/** How high a slot stands, of 22: what is not well is shorter as well as red, so that it is seen without colour. */
const SLOTS: readonly { readonly letter: string; readonly class: string; readonly height: number }[] = [
  { letter: 'o', class: 's-o', height: 22 },
  { letter: 'x', class: 's-x', height: 13 },
  { letter: '?', class: 's-u', height: 8 },
  { letter: '-', class: 's-off', height: 4 },
  { letter: '.', class: 's-n', height: 4 },
]
const WIDTH = 10
const GAP = 2

/** A day in half hours. One path for all slots of a sort: a thousand strips must scroll as lightly as ten. */
export function Strip({ slots, label }: { readonly slots: string; readonly label: string }) {
  const letters = [...slots]
  const seen = letters.filter((slot) => slot !== '.' && slot !== '-').length
  const well = letters.filter((slot) => slot === 'o').length
  const words = seen === 0 ? 'not looked yet' : `well in ${well} of ${seen} half hours`
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${letters.length * WIDTH - GAP} 22`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${words}`}
    >
      <title>{words}</title>
      {SLOTS.map(({ letter, class: name, height }) => {
        const path = letters.flatMap((slot, at) => (slot === letter ? bar(at, height) : [])).join('')
        return path === '' ? null : <path key={letter} class={name} d={path} />
      })}
    </svg>
  )
}

function bar(at: number, height: number): string {
  return `M${at * WIDTH} 22v-${height}h${WIDTH - GAP}v${height}z`
}
