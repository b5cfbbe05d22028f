import { LIMITS } from '../lib/limits.ts'
import type { Intention } from '../model/record.ts'
import { readIntention, savedIntention } from '../model/shown-step.ts'

/** The object that each write replaces: small facts, and references to the parts. */
export interface StoreHead {
  readonly epoch: number
  readonly complete: boolean
  readonly lastSeq: number
  readonly auditSeq: number
  readonly intentions: readonly Intention[]
  /** Names of the immutable parts that hold each section, in order. */
  readonly sections: Readonly<Record<string, readonly string[]>>
  /** The move that has closed this store: only the mover may start an epoch on it. */
  readonly closedBy?: string
  /** Drawn for each write: by it a writer without an answer sees whether its write is there. */
  readonly commit: string
}

export const NO_HEAD: StoreHead = {
  epoch: 0,
  complete: false,
  lastSeq: 0,
  auditSeq: 0,
  intentions: [],
  sections: {},
  commit: '',
}

/** Limit below the mebibyte of a ConfigMap. */
const HEAD_LENGTH = 900_000

export function headText(head: StoreHead): string {
  const text = JSON.stringify({ ...head, intentions: head.intentions.map(savedIntention) })
  if (Buffer.byteLength(text) > HEAD_LENGTH)
    throw new Error(`the store is full: ${head.intentions.length} intentions in flight do not fit into one object`)
  return text
}

/** Undefined: foreign content. */
export function readHead(text: string): StoreHead | undefined {
  try {
    const value = JSON.parse(text) as Partial<StoreHead>
    if (typeof value.epoch !== 'number') return undefined
    return { ...NO_HEAD, ...value, intentions: (value.intentions ?? []).map(readIntention) }
  } catch {
    return undefined
  }
}

const BUCKETS = 16

/** Records lie in a few sections by their keys, so that a change of one does not write all. */
export function bucketOf(key: string): string {
  let sum = 0
  for (let at = 0; at < key.length; at++) sum = (Math.imul(sum, 31) + key.charCodeAt(at)) >>> 0
  return `records/${sum % BUCKETS}`
}

/** A log in blocks: an entry goes into the block of its number, and old blocks go as a whole. */
export const BLOCK = 500

export function blockOf(log: 'events' | 'audit', seq: number): string {
  return `${log}/${Math.floor(seq / BLOCK)}`
}

export function blocksOf(head: StoreHead, log: 'events' | 'audit'): readonly string[] {
  return Object.keys(head.sections)
    .filter((name) => name.startsWith(`${log}/`))
    .sort((a, b) => numberOf(a) - numberOf(b))
}

/** Reports whether all entries of a block are older than the oldest kept one. */
export function isOver(block: string, lastSeq: number, log: 'events' | 'audit'): boolean {
  const kept = log === 'events' ? LIMITS.eventsKept : LIMITS.auditKept
  return (numberOf(block) + 1) * BLOCK <= lastSeq - kept
}

function numberOf(block: string): number {
  return Number(block.slice(block.indexOf('/') + 1))
}
