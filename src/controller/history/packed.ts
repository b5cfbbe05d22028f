/** Two characters for a number from 0 to 4095: history lies in the store as text, and there is much of it. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const MOST = 4095

export function pack(numbers: Uint16Array): string {
  let text = ''
  for (const number of numbers) text += `${ALPHABET[number >> 6]}${ALPHABET[number & 63]}`
  return text
}

/** Undefined: this is nothing that `pack` wrote for so many numbers. */
export function unpack(text: unknown, length: number): Uint16Array | undefined {
  if (typeof text !== 'string' || text.length !== length * 2 || !/^[\w-]*$/.test(text)) return undefined
  return Uint16Array.from({ length }, (_, at) => digit(text, at * 2) * 64 + digit(text, at * 2 + 1))
}

function digit(text: string, at: number): number {
  return ALPHABET.indexOf(text[at] ?? '')
}

const SMALLEST = 1e-4
const LARGEST = 1e13
const STEPS = MOST - 2
const RATIO = Math.log(LARGEST / SMALLEST)

/** A quantity from a ten-thousandth to ten thousand billion within half a percent; 0 of the result is kept for "none". */
export function quantityCode(value: number | undefined): number {
  if (value === undefined || !Number.isFinite(value) || value < 0) return 0
  if (value < SMALLEST) return 1
  return 2 + Math.min(STEPS, Math.round((Math.log(value / SMALLEST) / RATIO) * STEPS))
}

export function quantityOf(code: number): number | undefined {
  if (code === 0) return undefined
  return code === 1 ? 0 : SMALLEST * Math.exp(((code - 2) / STEPS) * RATIO)
}
