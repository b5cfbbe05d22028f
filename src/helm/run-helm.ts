import path from 'node:path'
import { cleanText } from '../lib/clean-text.ts'
import type { Clock } from '../lib/clock.ts'
import { findProgram } from '../lib/find-program.ts'
import { runChild } from '../ssh/child.ts'
import { environmentFor } from './arguments.ts'

/** Helm's error, or why it did not run. Caught inside this folder. */
export class HelmFailed extends Error {}

/** CROFT_HELM names the program; else it is looked for in PATH. */
export function findHelm(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const named = env.CROFT_HELM ?? ''
  return findProgram(named === '' ? 'helm' : path.resolve(named), env)
}

export interface HelmOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Real time: Helm is no part of a simulation. */
  readonly clock: Clock
  /** An empty temporary home. */
  readonly home: string
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Access to one cluster; without it Helm finds none. */
  readonly kubeconfig?: string
}

/** Runs Helm to its end and returns its output. Throws HelmFailed. */
export async function runHelm(
  program: string,
  args: readonly string[],
  { env, clock, home, maxBytes, timeoutMs, kubeconfig }: HelmOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const [doing = ''] = args
  const ended = await runChild([program, ...args], {
    env: { ...environmentFor(env, home), ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }) },
    input: [],
    timeoutMs,
    maxBytes,
    group: true,
    clock,
    signal,
  })
  if (ended.cut === 'timeout') throw new HelmFailed(`helm ${doing} took longer than ${timeoutMs / 1000} s`)
  if (ended.cut === 'too-large') throw new HelmFailed(`helm ${doing} said more than ${maxBytes} bytes`)
  if (ended.cut === 'aborted') throw new HelmFailed(`helm ${doing} was stopped`)
  if (ended.unstarted !== undefined) throw new HelmFailed(`helm could not be started (${ended.unstarted})`)
  if (ended.code !== 0) {
    const said = ended.stderr.trim().replace(/^Error: /, '') || `it ended with ${ended.code}`
    throw new HelmFailed(`helm ${doing}: ${cleanText(said)}`)
  }
  return ended.stdout
}
