/**
 * Packs what was recorded of the real Proxmox API and of a real K3s into test/evidence, in the form of records.ts.
 *
 *   node bin/run scripts/evidence.ts FOLDER
 *
 * FOLDER holds the recorders' own files: `pve/` and `k3s/`. test/evidence/README.md says how each was made.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Recorded } from '../sim/recordings/testing/replay.ts'
import { packExchange, unpackExchange } from '../test/evidence/exchange.ts'

const EVIDENCE = new URL('../test/evidence/', import.meta.url).pathname
const SCHEMA = 'api-schema-9.2'
/** The words of the recorder are in the page; the definitions of K3s's own kinds are K3s's text. */
const LEFT_OUT = ['README.md', 'crds.json']

const [source] = process.argv.slice(2)
if (source === undefined) throw new Error('usage: node bin/run scripts/evidence.ts FOLDER')
packProxmox(join(source, 'pve'))
packK3s(join(source, 'k3s'))

function packProxmox(from: string): void {
  empty('proxmox')
  for (const name of readdirSync(from).filter((one) => /^recording-\w+\.jsonl$/.test(one))) {
    const exchanges = lines<Recorded>(readFileSync(join(from, name), 'utf8'))
    const packed = exchanges.map(packExchange)
    for (const [index, one] of packed.entries()) proveSame(unpackExchange(one), exchanges[index] as Recorded)
    write(`proxmox/${name}`, packed)
  }
  write(`proxmox/${SCHEMA}.jsonl`, lines(unzipped(join(from, `${SCHEMA}.jsonl.gz`))))
  write('proxmox/validation.jsonl', byVerdict(lines<Vector>(unzipped(join(from, 'validation-vectors.jsonl.gz')))))
}

type Vector = readonly [place: string, parameter: string, value: string, verdict: Record<string, string> | null]

/** One line for each place, parameter and verdict, with all values that were judged so. */
function byVerdict(vectors: readonly Vector[]): readonly unknown[] {
  const rows = new Map<string, string[]>()
  for (const [place, parameter, value, verdict] of vectors) {
    const key = JSON.stringify([place, parameter, verdict?.[parameter] ?? null])
    rows.set(key, [...(rows.get(key) ?? []), value])
  }
  return [...rows].map(([key, values]) => [...JSON.parse(key), values])
}

/** A file for each scenario: every file of the recorder by its name; of a log the messages, without times and levels. */
function packK3s(from: string): void {
  empty('k3s')
  for (const name of ['releases', 'golden-token'])
    write(`k3s/${name}.json`, JSON.parse(readFileSync(join(from, `${name}.json`), 'utf8')))
  const recordings = join(from, 'recordings')
  for (const scenario of readdirSync(recordings, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(recordings, scenario.name)
    const files = readdirSync(folder)
      .filter((name) => !LEFT_OUT.includes(name))
      .map((name) => [name, contentOf(name, readFileSync(join(folder, name), 'utf8'))])
    write(`k3s/${scenario.name}.json`, Object.fromEntries(files))
  }
}

function contentOf(name: string, text: string): unknown {
  if (name.endsWith('.json')) return JSON.parse(text)
  if (name.endsWith('.jsonl')) return lines(text)
  return name.startsWith('log-') ? messagesOf(text) : text
}

function messagesOf(log: string): readonly string[] {
  return log.split('\n').flatMap((line) => {
    const match = /msg="(.*)"$/.exec(line)
    return match === null ? [] : [(match[1] ?? '').replaceAll('\\"', '"')]
  })
}

/** Packing may lose headers that say nothing, and the spelling of a form or a document, but no fact. */
function proveSame(packed: Recorded, recorded: Recorded): void {
  for (const field of ['label', 'method', 'path', 'auth', 'status', 'reason', 'req_ctype'] as const)
    if (packed[field] !== recorded[field]) throw new Error(`${recorded.label}: ${field} is lost`)
  const same = (one: string, other: string) =>
    one === other || JSON.stringify(read(one)) === JSON.stringify(read(other))
  if (!same(packed.body, recorded.body)) throw new Error(`${recorded.label}: the answer is lost`)
  const [sent, was] = [packed.req_body ?? '', recorded.req_body ?? '']
  const isForm = new URLSearchParams(sent).toString() === new URLSearchParams(was).toString()
  if (!isForm && !same(sent, was)) throw new Error(`${recorded.label}: the parameters are lost`)
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function lines<T>(text: string): readonly T[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T)
}

function unzipped(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8')
}

function empty(folder: string): void {
  rmSync(join(EVIDENCE, folder), { recursive: true, force: true })
  mkdirSync(join(EVIDENCE, folder), { recursive: true })
}

function write(name: string, content: unknown): void {
  const text = name.endsWith('.jsonl')
    ? (content as readonly unknown[]).map((line) => `${JSON.stringify(line)}\n`).join('')
    : `${JSON.stringify(content)}\n`
  writeFileSync(join(EVIDENCE, `${name}.gz`), gzipSync(text, { level: 9 }))
}
