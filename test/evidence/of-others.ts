import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/* Text of other people that tests read: charts as they render, a provider's definitions, printed manifests. It is not
   ours to pass on, so it lies in a folder that CROFT_EVIDENCE names. Where that is set, a missing file is a failure. */

const named = process.env.CROFT_EVIDENCE ?? ''

/** The beginning of the reason with which these tests are left out. The runner counts them apart. */
export const NEEDS_EVIDENCE = 'needs CROFT_EVIDENCE'

/** For `skip`. */
export const WITHOUT_EVIDENCE = named === '' ? NEEDS_EVIDENCE : false

/** The path of a file or folder there. */
export function ofOthers(name: string): string {
  if (named === '') throw new Error(`CROFT_EVIDENCE is not set, and ${name} was asked for`)
  return join(resolve(named), name)
}

export function readOfOthers(name: string): string {
  return readFileSync(ofOthers(name), 'utf8')
}
