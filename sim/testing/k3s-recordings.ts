import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { conditionsOf, type KubeObject, tree } from '../kubernetes/object.ts'
import type { Lab } from './k3s-lab.ts'

const FOLDER = fileURLToPath(new URL('../../../shared/k3s/recordings/', import.meta.url))

/** A reason to skip, or false. Where everything must be tested the recordings must be there. */
export function recordingsMissing(): string | false {
  if (existsSync(FOLDER) || process.env.CI !== undefined) return false
  return 'the recordings of a real cluster are missing: ../shared/k3s/recordings'
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(`${FOLDER}${path}`, 'utf8')) as T
}

export function readLines<T>(path: string, read: (line: string) => T = (line) => JSON.parse(line) as T): readonly T[] {
  return readFileSync(`${FOLDER}${path}`, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(read)
}

const counts = new Map<string, number>()

function count(folder: string): void {
  counts.set(folder, (counts.get(folder) ?? 0) + 1)
}

/** One fact of a folder, the simulated one against the recorded one. */
export function compared(folder: string, own: unknown, recorded: unknown, what: string): void {
  count(folder)
  assert.deepEqual(own, recorded, `${folder}: ${what}`)
}

/** A time that may differ from the recorded one by this share: it was one run on a busy machine. */
export function near(folder: string, own: number, recorded: number, share: number, what: string): void {
  count(folder)
  const most = Math.max(0.3, recorded * share)
  assert.ok(Math.abs(own - recorded) <= most, `${folder}: ${what}: ${own} s, recorded ${recorded} s`)
}

export function within(folder: string, own: number, range: readonly [number, number], what: string): void {
  count(folder)
  assert.ok(own >= range[0] && own <= range[1], `${folder}: ${what}: ${own} s, recorded ${range.join(' to ')} s`)
}

export function summary(): readonly string[] {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, facts]) => `recordings ${folder}: ${facts} facts compared`)
}

/** Seconds since a moment. */
export const since = (lab: Lab, fromMs: number) => (lab.clock.now() - fromMs) / 1000

/** The kinds and fields of an object, without values that are born of each machine. */
export function shapeOf(node: KubeObject): Record<string, unknown> {
  const { labels, annotations, finalizers } = node.metadata
  const spec = tree(node.spec)
  return {
    labels: Object.keys(labels ?? {}).sort(),
    annotations: Object.keys(annotations ?? {}).sort(),
    finalizers: finalizers ?? [],
    spec: Object.keys(spec).sort(),
    taints: spec.taints ?? [],
    status: Object.keys(tree(node.status)).sort(),
    conditions: conditionsOf(node)
      .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
      .sort(),
    addresses: (tree(node.status).addresses as { type: string }[]).map(({ type }) => type),
  }
}

/** Messages of a recorded log, without their times and levels. */
export function readLogMessages(path: string): readonly string[] {
  return readText(path)
    .split('\n')
    .flatMap((line) => {
      const match = /msg="(.*)"$/.exec(line)
      return match === null ? [] : [(match[1] ?? '').replaceAll('\\"', '"')]
    })
}

function readText(path: string): string {
  return readLines<string>(path, (line) => line).join('\n')
}
