import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Recorded } from '../../sim/recordings/testing/replay.ts'
import { type PackedExchange, unpackExchange } from './exchange.ts'

/* What was recorded of the real programs, as the tests read it. README.md says how each was recorded. */

/** A document of this folder by its name: `k3s/releases.json`. */
export function readEvidence<T>(name: `${string}.json`): T {
  return JSON.parse(textOf(name)) as T
}

/** The lines of a document: `proxmox/api-schema-9.2.jsonl`. */
export function readEvidenceLines<T>(name: `${string}.jsonl`): readonly T[] {
  return textOf(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

export const RECORDINGS = ['1', '2', '3', '4', 'A', 'B', 'C', 'E', 'F', 'G'] as const

/** The exchanges with the real Proxmox API in one recording, in their order. */
export function recordedExchanges(recording: (typeof RECORDINGS)[number]): readonly Recorded[] {
  return readEvidenceLines<PackedExchange>(`proxmox/recording-${recording}.jsonl`).map(unpackExchange)
}

/** A file of a scenario that was recorded of a real K3s: `('11-drain-pdb', 'requests.jsonl')`. Lines are an array. */
export function recordedFile<T>(scenario: string, file: string): T {
  const files = readEvidence<Readonly<Record<string, unknown>>>(`k3s/${scenario}.json`)
  if (!(file in files)) throw new Error(`scenario ${scenario} has no ${file}`)
  return files[file] as T
}

function textOf(name: string): string {
  return gunzipSync(readFileSync(new URL(`${name}.gz`, import.meta.url))).toString('utf8')
}
