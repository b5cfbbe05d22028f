import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { maskChange } from '../../model/masked/masked-change.ts'
import type { Change, Resource } from '../../model/resource.ts'
import type { Granted, Wish } from '../../server/port.ts'
import { commitFile, patchOf, pushBranch } from '../../source/git/git-commit.ts'
import { GitFailed } from '../../source/git/git-run.ts'
import type { FollowOptions } from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'
import { judgeDocument } from '../../source/judge.ts'
import { readDocuments } from '../../source/manifest.ts'
import type { AdoptState } from '../controller.ts'
import { adoptChanges } from './adopt.ts'
import { refused } from './wishes.ts'

/** Where commits of a source are made and pushed to. */
export interface Writable {
  readonly source: string
  readonly remote: string
  readonly mirror: string
  /** Directory of the repository that is read, without a slash at its end. */
  readonly path?: string
  readonly access?: NonNullable<FollowOptions['access']>
  readonly allowLocal?: boolean
}

export interface AdopterDeps {
  readonly clock: Clock
  /** Directory for patches that could not be pushed. */
  readonly data: string
  readonly writable: readonly Writable[]
  link(revision: Revision): Estate
}

/** Makes Git agree with the world: commits to a new branch, for a person to review and merge. */
export function createAdopter(deps: AdopterDeps) {
  return async (wish: Extract<Wish, { readonly wish: 'adopt-drift' }>, state: AdoptState): Promise<Granted> => {
    const { key, fields } = wish
    // A pending restart is the rest of a change, not a difference from Git.
    const drifted = driftChanges(state, key).filter(({ path: field }) => field !== 'restart')
    if (drifted.length === 0)
      return refused('not-found', `${key} has not drifted: when croft last looked, it was as Git declares it`)
    const changes = drifted.filter(({ path: field }) => fields.length === 0 || fields.includes(field))
    if (changes.length === 0)
      return refused('not-found', `${key} has drifted in ${drifted.map((one) => one.path).join(', ')} only`)
    const { revision } = state
    const declaration = revision.declarations.find((one) => one.key === key)
    const document = declaration === undefined ? undefined : revision.text?.(declaration)
    if (declaration === undefined || document === undefined)
      return refused('refused', `${key} is made from another declaration; change that one by hand`)
    const { source, file } = placeOf(declaration, state)
    const adopted = adoptChanges(document, changes, (text) => desiredOf(text, declaration, revision, deps.link))
    if ('cannot' in adopted)
      return refused('refused', `${adopted.cannot.join(', ')} cannot be put into ${file} by itself; change it by hand`)
    const whole = await revision.read?.(file)
    const at = whole?.indexOf(document) ?? -1
    if (whole === undefined || at < 0 || whole.indexOf(document, at + 1) >= 0)
      return refused('refused', `${file} cannot be changed by itself`)
    const text = `${whole.slice(0, at)}${adopted.text}${whole.slice(at + document.length)}`
    const target = deps.writable.find((one) => one.source === source)
    const commit = state.sources.find((one) => one.source.name === source)?.facts?.commit
    if (target === undefined || commit === undefined) return writePatch(file, whole, text, key)
    return commitAndPush(target, commit, file, text, key, changes)
  }

  async function commitAndPush(
    target: Writable,
    parent: string,
    file: string,
    text: string,
    key: ResourceKey,
    changes: readonly Change[],
  ): Promise<Granted> {
    const { mirror, remote, access, allowLocal = false } = target
    const message = `Adopt ${changes.map((change) => change.path).join(', ')} of ${key}\n\n${changes
      .map(maskChange)
      .map((change) => `${change.path}: ${String(change.to)} → ${String(change.from)}`)
      .join('\n')}\n\nChanged outside Git and taken over as it is.\n`
    const inRepository = path.posix.normalize(target.path === undefined ? file : `${target.path}/${file}`)
    const commit = await commitFile({
      mirror,
      parent,
      file: inRepository,
      text,
      message,
      author: 'croft',
      atMs: deps.clock.now(),
    })
    const branch = `croft/adopt-${key
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 80)}-${commit.slice(0, 7)}`
    try {
      await pushBranch({ mirror, remote, commit, branch, allowLocal, ...(access === undefined ? {} : { access }) })
      return { ok: true, message: `pushed ${branch} with ${file}; merge it to make Git agree`, link: branch }
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error
      const patch = put(key, await patchOf(mirror, commit))
      return {
        ok: true,
        message: `the branch could not be pushed (${error.message}); the patch is at ${patch}, for git am`,
        link: patch,
      }
    }
  }

  function writePatch(file: string, before: string, after: string, key: ResourceKey): Granted {
    const patch = put(key, unifiedDiff(file, before, after))
    return { ok: true, message: `the source cannot be pushed to; the patch is at ${patch}, for git apply`, link: patch }
  }

  function put(key: ResourceKey, text: string): string {
    const directory = path.join(deps.data, 'patches')
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const file = path.join(directory, `${key.replaceAll(/[^A-Za-z0-9]+/g, '-')}.patch`)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
}

function driftChanges({ report }: AdoptState, key: ResourceKey): readonly Change[] {
  const entry = report.plan.entries.find((one) => one.key === key)
  if (entry?.drift !== true) return []
  const doing = entry.action.do === 'hold' ? entry.action.held : entry.action
  return 'changes' in doing ? doing.changes : []
}

/** Returns the source and the file of a declaration: with several sources the place begins with the source's name. */
function placeOf({ origin }: Declaration, { sources }: AdoptState): { readonly source: string; readonly file: string } {
  const only = sources[0]
  if (only !== undefined && sources.length === 1) return { source: only.source.name, file: origin.file }
  const at = origin.file.indexOf(':')
  return { source: origin.file.slice(0, at), file: origin.file.slice(at + 1) }
}

/** Returns the resource as declared by a changed text, with everything else unchanged. */
function desiredOf(
  text: string,
  declaration: Declaration,
  revision: Revision,
  link: AdopterDeps['link'],
): Resource['desired'] | undefined {
  const judged = readDocuments(text)
    .flatMap(judgeDocument)
    .find((one) => one.key === declaration.key)
  if (judged?.outcome !== 'declared') return undefined
  const { spec, policy, generation } = judged
  const changed: Declaration = { ...declaration, spec, policy, generation }
  const declarations = revision.declarations.map((one) => (one.key === declaration.key ? changed : one))
  return link({ ...revision, declarations }).resources.find((one) => one.key === declaration.key)?.desired
}

/** Lines are replaced one for one, never added or removed: a scalar stays a scalar. */
export function unifiedDiff(file: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const changed = old.flatMap((line, index) => (now[index] === line ? [] : [index]))
  // Changes whose context would meet are one hunk: git refuses hunks that overlap.
  const hunks: { from: number; to: number }[] = []
  for (const index of changed) {
    const last = hunks.at(-1)
    const to = Math.min(old.length - 1, index + CONTEXT)
    if (last !== undefined && index - CONTEXT <= last.to + 1) last.to = to
    else hunks.push({ from: Math.max(0, index - CONTEXT), to })
  }
  const out = [`--- a/${file}\n`, `+++ b/${file}\n`]
  for (const { from, to } of hunks) {
    const count = to - from + 1
    out.push(`@@ -${from + 1},${count} +${from + 1},${count} @@\n`)
    for (let at = from; at <= to; at++) {
      const [was = '', is = ''] = [old[at], now[at]]
      out.push(...(was === is ? [marked(' ', was)] : [marked('-', was), marked('+', is)]))
    }
  }
  return out.join('')
}

const CONTEXT = 3

/** The lines of a text, each with its line end; the last may have none. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function marked(sign: string, line: string): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`
}
