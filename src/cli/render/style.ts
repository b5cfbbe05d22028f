import { styleText } from 'node:util'

export type Paint = 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'gray' | 'bold' | 'dim'

/** How text is decorated. Renderers take one and never ask the terminal themselves. */
export interface Style {
  readonly colour: boolean
  paint(paint: Paint | readonly Paint[], text: string): string
}

export const PLAIN: Style = { colour: false, paint: (_paint, text) => text }

export const COLOURED: Style = {
  colour: true,
  paint: (paint, text) => styleText(typeof paint === 'string' ? paint : [...paint], text, { validateStream: false }),
}

/** FORCE_COLOR decides when it is set, then NO_COLOR, then whether a person is looking. */
export function styleFor(env: Readonly<Record<string, string | undefined>>, isTty: boolean): Style {
  const force = env.FORCE_COLOR
  if (force !== undefined) return force === '0' || force === 'false' ? PLAIN : COLOURED
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return PLAIN
  if (env.TERM === 'dumb') return PLAIN
  return isTty ? COLOURED : PLAIN
}
