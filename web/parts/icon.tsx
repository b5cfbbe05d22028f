import type { Tone } from '../tone.ts'

// Strokes on a 20 x 20 ground, drawn for this page.
const PATHS = {
  overview: 'M3 10.5 10 4l7 6.5M5 9.5V16h10V9.5',
  estate: 'M4 4.5h12v4H4zM4 11.5h12v4H4zM6.5 6.5h.01M6.5 13.5h.01',
  graph:
    'M4 10h3M11 5.5H9.2c-1.2 0-2.2 1-2.2 2.2v4.6c0 1.2 1 2.2 2.2 2.2H11M11 3.5h5v4h-5zM11 12.5h5v4h-5zM2 8.5h2v3H2z',
  plan: 'M5 3.5h10v13H5zM7.5 7.5h5M7.5 10.5h5M7.5 13.5h3',
  drift: 'M3 7h9.5a3.5 3.5 0 0 1 0 7H8M10.5 11.5 8 14l2.5 2.5M6 4.5 3.5 7 6 9.5',
  timeline: 'M4 5h6M4 10h11M8 15h8M2.5 3v14',
  cluster: 'M10 3.5 15.6 6.8v6.4L10 16.5l-5.6-3.3V6.8zM10 10l5.6-3.2M10 10v6.5M10 10 4.4 6.8',
  power: 'M10 3v6.5M6 5.6a6 6 0 1 0 8 0',
  health: 'M2.5 10.5h3.5l2-5 3.5 9 2-4h4',
  machine: 'M3 4.5h14v9H3zM7.5 16.5h5M10 13.5v3',
  node: 'M10 3.5 15.6 6.8v6.4L10 16.5l-5.6-3.300V6.8z',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17',
  sun: 'M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4',
  moon: 'M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3z',
  auto: 'M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14',
  user: 'M10 10a3.2 3.2 0 1 0 0-6.4A3.2 3.2 0 0 0 10 10zM3.8 17c.6-3 3-4.6 6.2-4.6s5.6 1.600 6.200 4.600',
  close: 'M5 5l10 10M15 5 5 15',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  chevron: 'M7.5 5 12.5 10l-5 5',
  link: 'M8 12l4-4M7 9 5 11a2.800 2.800 0 0 0 4 4l2-2M13 11l2-2a2.800 2.800 0 0 0-4-4L9 7',
  commit: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 10h5M13 10h5',
  ok: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM7 10.200l2.200 2.200L13.200 8',
  busy: 'M10 3a7 7 0 1 1-6.600 4.700M10 6.500V10l2.500 1.500',
  warn: 'M10 3.500 17.500 16.500h-15zM10 8.500v3.500M10 14.200h.01',
  bad: 'M7 3.200h6L16.800 7v6L13 16.800H7L3.200 13V7zM7.700 7.700l4.600 4.600M12.300 7.700 7.700 12.300',
  quiet: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM7 10h6',
  pause: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM8.300 7.500v5M11.700 7.500v5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

/** A state as icon and word. `word` may be omitted if the text beside it has it. */
export function Badge({ tone, word, icon }: { readonly tone: Tone; readonly word: string; readonly icon?: IconName }) {
  return (
    <span class={`badge tone-${tone}`}>
      <Icon name={icon ?? tone} size={15} />
      <span>{word}</span>
    </span>
  )
}

export function Mark({ tone, title }: { readonly tone: Tone; readonly title: string }) {
  return (
    <span class={`mark tone-${tone}`} role="img" aria-label={title} title={title}>
      <Icon name={tone} size={17} />
    </span>
  )
}
