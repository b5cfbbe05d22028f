import assert from 'node:assert/strict'
import { recordedFile } from '../../test/evidence/read.ts'
import { conditionsOf, type KubeObject, tree } from '../kubernetes/object.ts'
import type { Lab } from './k3s-lab.ts'

/** A recorded file: `11-drain-pdb/requests.jsonl`. */
export function readJson<T>(path: string): T {
  const [scenario = '', file = ''] = path.split('/')
  return recordedFile<T>(scenario, file)
}

export function readLines<T>(path: string): readonly T[] {
  return readJson<readonly T[]>(path)
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
  return readJson<readonly string[]>(path)
}
