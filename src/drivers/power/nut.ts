import type { UpsReading } from '../../model/observed-power.ts'

/** Returns the questions about a UPS in NUT's protocol. */
export function questions(ups: string): readonly string[] {
  return ['ups.status', 'battery.charge', 'ups.realpower'].map((name) => `GET VAR ${ups} ${name}`).concat('LOGOUT')
}

/** Splits `rack@192.168.4.2:3493`; the default port is NUT's. */
export function upsAddress(name: string): { readonly ups: string; readonly host: string; readonly port: number } {
  const at = name.indexOf('@')
  const [ups, rest] = at < 0 ? [name, 'localhost'] : [name.slice(0, at), name.slice(at + 1)]
  const match = /^(.*):([0-9]{1,5})$/.exec(rest)
  const plain = match === null || rest.indexOf(':') !== rest.lastIndexOf(':')
  return plain ? { ups, host: rest, port: 3493 } : { ups, host: match[1] ?? rest, port: Number(match[2]) }
}

const ANSWER = /^VAR \S+ (\S+) "((?:[^"\\]|\\.)*)"$/

/** Parses the answers. Undefined if they lack even mains or battery: then nothing is known. */
export function readUps(lines: readonly string[]): UpsReading | undefined {
  const variables = new Map(
    lines.flatMap((line) => {
      const match = ANSWER.exec(line.trim())
      return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const]
    }),
  )
  const status = variables.get('ups.status')?.split(' ') ?? []
  // FSD: the primary has ordered the power-off and cuts the power next, even if the mains return.
  const cuts = status.includes('FSD')
  if (!cuts && !status.includes('OL') && !status.includes('OB')) return undefined
  const charge = numberIn(variables.get('battery.charge'))
  const onBattery = cuts || status.includes('OB')
  const watts = numberIn(variables.get('ups.realpower'))
  return {
    onBattery,
    low: cuts || status.includes('LB'),
    // A battery without a charge reading counts as full until the UPS itself reports it low.
    charge: charge ?? 100,
    ...(watts === undefined ? {} : { watts }),
  }
}

/** Returns a number where there is one: an empty text is no zero, which would switch everything off. */
function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
}
