/** Heights of slots, of 22: unhealthy ones are shorter as well as red, so that they show without colour. */
const SLOTS: readonly { readonly letter: string; readonly class: string; readonly height: number }[] = [
  { letter: 'o', class: 's-o', height: 22 },
  { letter: 'x', class: 's-x', height: 13 },
  { letter: '?', class: 's-u', height: 8 },
  { letter: '-', class: 's-off', height: 4 },
  { letter: '.', class: 's-n', height: 4 },
]
const WIDTH = 10
const GAP = 2

/** A day in half hours. */
export function Strip({ slots, label }: { readonly slots: string; readonly label: string }) {
  const letters = [...slots]
  const seen = letters.filter((slot) => slot !== '.' && slot !== '-').length
  const well = letters.filter((slot) => slot === 'o').length
  const words = seen === 0 ? 'not looked yet' : `well in ${well} of ${seen} half hours`
  return <StripPaths letters={letters} label={`${label}: ${words}`} />
}

/** Draws one path per state: a thousand strips must scroll as smoothly as ten. */
export function StripPaths({ letters, label }: { readonly letters: readonly string[]; readonly label: string }) {
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${letters.length * WIDTH - GAP} 22`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {SLOTS.map(({ letter, class: name, height }) => {
        const path = letters.flatMap((slot, at) => (slot === letter ? bar(at, height) : [])).join('')
        return path === '' ? null : <path key={letter} class={name} d={path} />
      })}
    </svg>
  )
}

/** Under a strip: where in the day it is. */
export function StripAxis() {
  return (
    <p class="strip-axis muted" aria-hidden="true">
      <span>24 h ago</span>
      <span>12 h</span>
      <span>now</span>
    </p>
  )
}

/** Explains the heights and colours. */
export function StripLegend({ words = LEGEND }: { readonly words?: typeof LEGEND }) {
  return (
    <p class="strip-legend muted">
      {words.map(([letter, meaning]) => (
        <span key={letter}>
          <svg width={WIDTH} height={22} viewBox={`0 0 ${WIDTH} 22`} class="strip-key" aria-hidden="true">
            {SLOTS.filter((slot) => slot.letter === letter).map(({ class: name, height }) => (
              <path key={letter} class={name} d={bar(0, height)} />
            ))}
          </svg>{' '}
          {meaning}
        </span>
      ))}
    </p>
  )
}

const LEGEND: readonly (readonly [letter: string, words: string])[] = [
  ['o', 'well'],
  ['x', 'not well'],
  ['?', 'not known'],
  ['-', 'off as ordered'],
  ['.', 'not looked'],
]

function bar(at: number, height: number): string {
  return `M${at * WIDTH} 22v-${height}h${WIDTH - GAP}v${height}z`
}
