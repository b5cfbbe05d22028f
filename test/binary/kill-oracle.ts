import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Simulator } from './children.ts'

/** A simulated datacentre, past every API. */
export interface SimState {
  readonly guests: readonly SimGuest[]
  readonly hosts: readonly {
    readonly name: string
    readonly volumes: Readonly<Record<string, readonly { readonly name: string; readonly vmid?: number }[]>>
  }[]
}

export interface SimGuest {
  readonly vmid: number
  readonly node: string
  readonly status: string
  readonly config: Readonly<Record<string, string>>
  readonly pending: Readonly<Record<string, string>>
}

/** What the database of a process says that was killed. */
export interface Left {
  readonly events: ReadonlyMap<number, string>
  readonly audit: readonly { readonly what: string; readonly outcome: string }[]
  /** External ids of records, and of what was intended. */
  readonly known: ReadonlySet<string>
  readonly intended: ReadonlySet<string>
  readonly records: readonly { readonly key: string; readonly externalId?: string }[]
  value(name: string): string | undefined
}

/**
 * Looks at a copy, for opening the database itself would repair what the next run has to cope with: sound, and without
 * the token. Undefined: it was killed before it made one.
 */
export function soundDatabase(database: string, { token }: Pick<Simulator, 'token'>, hint = ''): Left | undefined {
  if (!existsSync(database)) return undefined
  const copy = `${database}.copy`
  const secret = token.split('=')[1] ?? token
  for (const part of ['', '-wal']) {
    rmSync(copy + part, { force: true })
    if (!existsSync(database + part)) continue
    copyFileSync(database + part, copy + part)
    assert.ok(!readFileSync(copy + part).includes(secret), `the token is in the database; ${hint}`)
  }
  const db = new DatabaseSync(copy)
  try {
    const answer = db.prepare('PRAGMA integrity_check').all()
    assert.deepEqual(
      answer.map((row) => row.integrity_check),
      ['ok'],
      hint,
    )
    // Killed before the tables existed, it has promised nothing.
    if (Number(db.prepare('PRAGMA user_version').get()?.user_version) === 0) return undefined
    const bodies = <T>(table: string) =>
      db
        .prepare(`SELECT body FROM ${table}`)
        .all()
        .map((row) => JSON.parse(String(row.body)) as T)
    const records = bodies<{ key: string; externalId?: string }>('records')
    const intended = bodies<{ externalId: string }>('intentions')
    const values = new Map(
      db
        .prepare('SELECT name, value FROM entries')
        .all()
        .map((row) => [String(row.name), String(row.value)]),
    )
    return {
      events: new Map(
        db
          .prepare('SELECT seq, body FROM events')
          .all()
          .map((row) => [Number(row.seq), (JSON.parse(String(row.body)) as { message: string }).message]),
      ),
      audit: bodies('audit'),
      records,
      intended: new Set(intended.map(({ externalId }) => externalId)),
      known: new Set([...records, ...intended].flatMap(({ externalId }) => externalId ?? [])),
      value: (name) => values.get(name),
    }
  } finally {
    db.close()
  }
}

/** Every printed line was on disk before: readers rely on it. Returns how many were compared. */
export function nothingToldLost(left: Left | undefined, stdout: string, hint = ''): number {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  for (const line of lines) {
    const { seq, message } = JSON.parse(line) as { readonly seq: number; readonly message: string }
    assert.equal(left?.events.get(seq), message, `it told of event ${seq}, which is lost; ${hint}`)
  }
  return lines.length
}

/**
 * O1: no machine twice. O2: every record has its guest or something intended, and every guest with our mark is in the
 * store: the last only after a run that came to its end, for between the end of a task and the end of its pass the mark
 * alone says whose a guest is. O3: what is not ours is as it was.
 */
export function noneDoubledOrLost(
  state: SimState,
  left: Left | undefined,
  strangers: readonly SimGuest[],
  when: 'killed' | 'ended',
  hint = '',
): void {
  const ours = state.guests.filter(({ config }) => /(?:^|;)croft/.test(config.tags ?? ''))
  const names = ours.map(({ config }) => config.tags)
  assert.equal(new Set(names).size, names.length, `two guests carry one mark: ${names.join(', ')}; ${hint}`)
  for (const { vmid } of ours)
    assert.ok(
      when === 'killed' || left?.known.has(String(vmid)),
      `${vmid} carries our mark and is not in the store; ${hint}`,
    )
  for (const { key, externalId } of left?.records ?? []) {
    if (externalId === undefined || !/^\d+$/.test(externalId)) continue
    const there = state.guests.some(({ vmid }) => String(vmid) === externalId)
    assert.ok(
      there || left?.intended.has(externalId),
      `${key} is written down as ${externalId}, which is not there; ${hint}`,
    )
  }
  for (const stranger of strangers)
    assert.deepEqual(
      state.guests.find(({ vmid }) => vmid === stranger.vmid)?.config,
      stranger.config,
      `a foreign guest was changed; ${hint}`,
    )
}
