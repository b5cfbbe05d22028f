import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

const TOKENS = readFileSync(new URL('../../web/style/tokens.css', import.meta.url), 'utf8')
/** What WCAG asks of text of ordinary size. */
const LEAST = 4.5
const GROUNDS = ['bg', 'surface', 'sunken', 'hover']
const TEXTS = ['text', 'muted', 'accent', 'ok', 'busy', 'warn', 'bad']
/** Text colours with their backgrounds. */
const PAIRS: readonly (readonly [string, string])[] = [
  ...['ok', 'busy', 'warn', 'bad', 'quiet', 'accent'].map((tone) => [tone, `${tone}-soft`] as const),
  ['on-accent', 'accent'],
  ['surface', 'bad'],
  ['text', 'busy-soft'],
  ['text', 'warn-soft'],
  ['quiet', 'surface'],
]

const [light = {}, dark = {}, system = {}] = [...TOKENS.matchAll(/\{([^{}]*--bg[^{}]*)\}/g)].map(([, block = '']) =>
  Object.fromEntries([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour])),
)

describe('colours', () => {
  for (const [name, theme] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    test(`can be read: every text on every ground has a contrast of ${LEAST} or more (${name})`, () => {
      const pairs = [...TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground] as const)), ...PAIRS]
      const weak = pairs.flatMap(([text, ground]) => {
        const found = contrast(theme[text], theme[ground])
        return found >= LEAST ? [] : [`${text} on ${ground}: ${found.toFixed(2)}`]
      })
      assert.deepEqual(weak, [])
    })
  }

  test('are the same in the dark, whether it was chosen or the system is dark', () => {
    assert.ok(Object.keys(dark).length > 15)
    assert.deepEqual(system, dark)
  })

  test('the measure itself: black on white is 21, a colour on itself 1', () => {
    assert.equal(contrast('#000000', '#ffffff'), 21)
    assert.equal(contrast('#24619e', '#24619e'), 1)
  })
})

function contrast(one = '#000000', other = '#000000'): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
