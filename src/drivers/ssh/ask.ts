import { createHash } from 'node:crypto'
import type { Command } from './command.ts'

/** One question to a host. All questions about its items are sent together. */
export type HostQuestion =
  /** Its content is returned only if it differs from the expected one. */
  | { readonly ask: 'file'; readonly path: string; readonly sha256?: string }
  | { readonly ask: 'package'; readonly name: string }
  | { readonly ask: 'unit'; readonly name: string }
  | { readonly ask: 'sysctl'; readonly key: string }
  | { readonly ask: 'module'; readonly name: string }
  /** A program that only reads. */
  | { readonly ask: 'run'; readonly argv: readonly string[] }

export interface ObservedFile {
  readonly kind: 'absent' | 'file' | 'directory' | 'link' | 'other'
  readonly mode: number
  readonly owner: string
  readonly group: string
  readonly sha256: string
  /** Absent if as expected, too large, or not text. */
  readonly content?: string
  /** A link's target. */
  readonly target: string
}

export interface ObservedPackage {
  readonly installed: boolean
  /** No package has that name, but an installed one provides it. */
  readonly provided: boolean
  readonly version: string
}

export interface ObservedUnit {
  readonly load: string
  readonly active: string
  readonly enabled: string
}

export interface RunResult {
  readonly code: number
  readonly out: string
}

/** One question's answer as flat fields of the probe. */
export type HostAnswer = Readonly<Record<string, string>>
export type Answers = ReadonlyMap<string, HostAnswer>

export function askKey(ask: HostQuestion): string {
  switch (ask.ask) {
    case 'file':
      return `file ${ask.path}`
    case 'package':
    case 'unit':
    case 'module':
      return `${ask.ask} ${ask.name}`
    case 'sysctl':
      return `sysctl ${ask.key}`
    case 'run':
      return `run ${JSON.stringify(ask.argv)}`
  }
}

/** The observed facts of a host, for items. Reading a fact that was not asked for is a bug. */
export interface ItemFacts {
  file(path: string): ObservedFile
  package(name: string): ObservedPackage
  unit(name: string): ObservedUnit
  /** Undefined if the kernel has no such setting. */
  sysctl(key: string): string | undefined
  module(name: string): boolean
  run(...argv: readonly string[]): RunResult
  /** The hash of a secret that was resolved for this look; undefined if unresolved. */
  readonly secretSha?: string
  /** The commands that undo the observed item; absent until croft changed it. */
  readonly undo?: readonly Command[]
}

export function seenIn(answers: Answers, more: Pick<ItemFacts, 'secretSha' | 'undo'> = {}): ItemFacts {
  const of = (key: string): HostAnswer => {
    const answer = answers.get(key)
    if (answer === undefined) throw new Error(`nobody asked the host about ${key}`)
    return answer
  }
  return {
    file: (path) => fileOf(of(`file ${path}`)),
    package: (name) => packageOf(of(`package ${name}`)),
    unit: (name) => {
      const { load = 'not-found', active = 'inactive', enabled = '' } = of(`unit ${name}`)
      return { load, active, enabled }
    },
    sysctl: (key) => of(`sysctl ${key}`).value,
    module: (name) => of(`module ${name}`).loaded === '1',
    run: (...argv) => {
      const { code = '-1', out = '' } = of(`run ${JSON.stringify(argv)}`)
      return { code: Number(code), out }
    },
    ...more,
  }
}

function fileOf(answer: HostAnswer): ObservedFile {
  const { kind = 'absent', mode = '0', owner = '', group = '', sha256 = '', content, target = '' } = answer
  return {
    kind: kind as ObservedFile['kind'],
    mode: Number.parseInt(mode, 8) || 0,
    owner,
    group,
    sha256,
    target,
    ...(content === undefined ? {} : { content }),
  }
}

function packageOf({ status = '', version = '', provided }: HostAnswer): ObservedPackage {
  return { installed: status === 'ii' || status === 'hi', provided: provided === '1', version }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
