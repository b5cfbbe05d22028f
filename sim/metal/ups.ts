/** A simulated UPS behind a NUT server. */
export interface Ups {
  onBattery: boolean
  charge: number
  watts: number
  /** No answer: the server or the network to it is down. */
  silent: boolean
}

export function createUps(): Ups {
  return { onBattery: false, charge: 100, watts: 210, silent: false }
}

/** What the server answers to lines that were sent. */
export function nutAnswers(ups: Ups, lines: readonly string[]): string[] {
  if (ups.silent) throw new Error('connect ECONNREFUSED')
  const values: Readonly<Record<string, string>> = {
    'ups.status': ups.onBattery ? `OB DISCHRG${ups.charge <= LOW ? ' LB' : ''}` : 'OL CHRG',
    'battery.charge': String(ups.charge),
    'ups.realpower': String(ups.watts),
  }
  return lines.map((line) => {
    if (line === 'LOGOUT') return 'OK Goodbye'
    const [, name = '', variable = ''] = /^GET VAR (\S+) (\S+)$/.exec(line) ?? []
    const value = values[variable]
    return value === undefined ? 'ERR VAR-NOT-SUPPORTED' : `VAR ${name} ${variable} "${value}"`
  })
}

const LOW = 3
