import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { writtenSecrets } from '../../kinds/fields/written-references.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { egressFromHere } from '../../lib/outgoing.ts'
import { shellQuoted } from '../../lib/shell-quoted.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { Grant } from '../../model/grant.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import { outsideGrant } from '../../plan/grants.ts'
import { followDirectory } from '../../source/files/directory.ts'
import { type Fetched, type Fetching, withFetched } from '../../source/files/fetched.ts'
import { keepFetches } from '../../source/files/kept-fetches.ts'
import {
  type Followed,
  type FollowOptions,
  followRepository,
  type RepositoryFollower,
} from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { Hooked } from '../../source/git/webhook.ts'
import { readHere } from '../../source/read-here.ts'
import type { SourceReader } from '../../source/reader.ts'
import type { SourceConfig } from '../config.ts'
import type { PreviewedSource } from '../previews/previews.ts'
import type { Writable } from '../wishes/adopter.ts'
import { USUAL_API } from '../wishes/forge.ts'
import { grantOf } from './grant-schema.ts'
import type { Source } from './source-state.ts'

export interface OpenSources {
  /** A directory of ours for mirrors. */
  readonly data: string
  readonly cwd: string
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Makes a reader of untrusted files, one per source. */
  reader?(): SourceReader
  /** For a controller, which serves other requests while it reads. */
  readonly clock?: Clock
  /** Renders charts with Helm, for clusters without a controller for them. */
  chart?: NonNullable<Fetching['chart']>
}

/** The sources of a configuration, ready to be followed. */
export function openSources(configs: readonly SourceConfig[], deps: OpenSources): readonly Source[] {
  return configs.map((config): Source => {
    const { name, url, directory, poll } = config
    const reader = deps.reader?.() ?? readHere
    const terms: Pick<Source, 'grant' | 'keepGoing' | 'manual'> = {
      ...(config.grant === undefined ? {} : { grant: grantOf(name, config.grant) }),
      ...(config.keepGoing === undefined ? {} : { keepGoing: config.keepGoing }),
      ...(config.apply === 'manual' ? { manual: true } : {}),
    }
    if (directory !== undefined) {
      const real = path.resolve(deps.cwd, directory)
      return {
        name,
        remote: real,
        ref: 'directory',
        pollMs: poll,
        ...terms,
        open: ({ newest }) =>
          fetching(followDirectory(real, reader, deps.clock, newest), config, terms.grant, reader, deps),
      }
    }
    const remote = url ?? ''
    const ref = config.tag ?? config.branch ?? 'main'
    return {
      name,
      remote,
      ref,
      pollMs: poll,
      ...terms,
      open: ({ lastGood, mayReturnTo, inForce, newest }) =>
        fetching(
          followRepository({
            name,
            remote,
            ref,
            mirror: mirrorOf(deps.data, config),
            mayReturnTo,
            reader,
            access: accessOf(config, deps),
            ...(config.tag === undefined ? {} : { tags: true }),
            ...defined({ path: config.path, lastGood, inForce, newest }),
            ...(config.signers === undefined ? {} : { signers: signersOf(config.signers) }),
          }),
          config,
          terms.grant,
          reader,
          deps,
        ),
    }
  })
}

/**
 * Adds remote manifests of add-ons to each new revision. A failed fetch is retried with growing delay, and its arrival
 * makes the revision new again. For a source with a grant, fetches only for what its grant allows, and only from
 * granted places.
 */
function fetching(
  followed: RepositoryFollower,
  { name }: Pick<SourceConfig, 'name'>,
  grant: Grant | undefined,
  reader: SourceReader,
  { data, chart, clock = systemClock }: OpenSources,
): RepositoryFollower {
  const fetched: Fetched = new Map()
  const kept = keepFetches(path.join(data, 'sources', `${name}.fetched`))
  const egress = egressFromHere(grant?.egress)
  const held =
    grant === undefined
      ? {}
      : {
          follows: (one: Declaration) => outsideGrant(one, grant, writtenSecrets(one.kind, one.spec)).length === 0,
        }
  /** The newest revision as it was read, while something for it could not be fetched. */
  let open: { readonly seen: New; readonly missing: number; readonly tries: number; readonly dueMs: number } | undefined
  const failures = () => [...fetched.values()].filter((at) => 'problem' in at).length
  const complete = async (revision: Revision, signal: AbortSignal) =>
    withFetched(revision, { fetched, kept, reader, signal, egress, ...held, ...defined({ chart }) })

  const fetchFor = async (seen: New, tries: number, signal: AbortSignal): Promise<New> => {
    fetched.forEach((at, place) => {
      if ('problem' in at) fetched.delete(place)
    })
    const revision = await complete(seen.revision, signal)
    const missing = failures()
    const waitMs = Math.min(LIMITS.fetchAgainMs * 2 ** tries, LIMITS.fetchAgainMostMs)
    open = missing === 0 ? undefined : { seen, missing, tries: tries + 1, dueMs: clock.monotonicMs() + waitMs }
    if (missing === 0) kept.prune([...fetched.keys()])
    return { ...seen, revision }
  }

  return {
    ...followed,
    dueMs: () => open?.dueMs ?? Number.POSITIVE_INFINITY,
    async look(signal) {
      const seen = await followed.look(signal)
      if (seen.is !== 'new') {
        if (open === undefined || open.dueMs > clock.monotonicMs()) return seen
        const { missing, seen: last } = open
        const again = await fetchFor(last, open.tries, signal)
        if (signal.aborted || (open?.missing ?? 0) >= missing) return seen
        const { before: _, trouble: _trouble, ...rest } = again
        return { ...rest, ...(seen.is === 'kept' ? { trouble: seen } : {}) }
      }
      const { declarations } = seen.revision
      if (grant !== undefined && declarations.length > LIMITS.grantedDeclarations)
        return {
          is: 'kept',
          reason: 'broken',
          message: `it declares ${declarations.length} objects, and a source with a grant may declare ${LIMITS.grantedDeclarations}`,
        }
      const before =
        seen.before === undefined
          ? {}
          : { before: { ...seen.before, revision: await complete(seen.before.revision, signal) } }
      return { ...(await fetchFor(seen, 0, signal)), ...before }
    },
  }
}

type New = Extract<Followed, { readonly is: 'new' }>

/** The sources that a branch can be pushed to. */
export function writableSources(configs: readonly SourceConfig[], deps: OpenSources): readonly Writable[] {
  return configs.flatMap((config) => {
    const { name, url, path: below } = config
    if (url === undefined) return []
    const inside = below?.replace(/\/+$/, '')
    return [
      {
        source: name,
        remote: url,
        mirror: mirrorOf(deps.data, config),
        access: accessOf(config, deps),
        ...(inside === undefined || inside === '.' ? {} : { path: inside }),
      },
    ]
  })
}

/** The sources whose pull requests get their plan as a comment. */
export function previewedSources(configs: readonly SourceConfig[], deps: OpenSources): readonly PreviewedSource[] {
  const writable = writableSources(configs, deps)
  return configs.flatMap(({ name, pullRequests, branch = 'main' }) => {
    const reached = writable.find(({ source }) => source === name)
    const api = pullRequests?.api ?? (pullRequests === undefined ? undefined : USUAL_API[pullRequests.forge])
    if (pullRequests === undefined || reached === undefined || api === undefined) return []
    const { forge, repository, token, poll } = pullRequests
    return [{ ...reached, forge, repository, api, token, pollMs: poll, branch }]
  })
}

/** Returns a source's mirror directory. Another URL gets another mirror, so that histories do not mix. */
export function mirrorOf(data: string, { name, url = '' }: Pick<SourceConfig, 'name' | 'url'>): string {
  return path.join(data, 'sources', `${name}-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.git`)
}

/** The sources whose forges report pushes by webhook, with their secrets. */
export async function hookedSources(
  configs: readonly SourceConfig[],
  resolveSecret: OpenSources['resolveSecret'],
): Promise<readonly Hooked[]> {
  const hooked: Hooked[] = []
  for (const { name, webhook, branch, tag, pullRequests } of configs) {
    if (webhook === undefined) continue
    const ref = tag === undefined ? `refs/heads/${branch ?? 'main'}` : `refs/tags/${tag}`
    hooked.push({ source: name, ref, pulls: pullRequests !== undefined, secret: await resolveSecret(webhook) })
  }
  return hooked
}

function signersOf(signers: NonNullable<SourceConfig['signers']>): NonNullable<FollowOptions['signers']> {
  return 'ssh' in signers ? { allowedSigners: signers.ssh } : { gnupgHome: signers.gpg }
}

/** Returns how git reaches the remote. Secrets go through a private file, not through arguments or the environment. */
export function accessOf(config: SourceConfig, deps: OpenSources): NonNullable<FollowOptions['access']> {
  const { token, user, ssh, url = '', name, ca } = config
  if (ssh !== undefined) {
    const directory = path.join(deps.data, 'sources')
    const known = path.join(directory, `${name}.known-hosts`)
    return {
      sshCommand: [
        'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oGlobalKnownHostsFile=/dev/null -oUpdateHostKeys=no',
        `-oUserKnownHostsFile=${shellQuoted(known)}`,
        ...(ssh.key === undefined ? [] : [`-oIdentitiesOnly=yes -i ${shellQuoted(ssh.key)}`]),
      ].join(' '),
      async prepare() {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        writeFileSync(known, `${knownHost(url)} ${ssh.hostKey}\n`, { mode: 0o600 })
        return () => {}
      },
    }
  }
  const trusted = ca === undefined ? [] : [`http.sslCAInfo=${ca}`]
  if (token === undefined) return ca === undefined ? {} : { settings: trusted }
  const file = path.join(deps.data, 'sources', `${name}.credentials`)
  return {
    settings: [`include.path=${file}`, ...trusted],
    async prepare() {
      const value = (await deps.resolveSecret(token)).word()
      const basic = Buffer.from(`${user}:${value}`).toString('base64')
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, `[http "${new URL(url).origin}/"]\n\textraHeader = Authorization: Basic ${basic}\n`, {
        mode: 0o600,
      })
      return () => rmSync(file, { force: true })
    },
  }
}

/** The name under which OpenSSH looks a host up: with its port where that is not the usual one. */
function knownHost(url: string): string {
  const scp = /^[^/@]+@([^:/]+):/.exec(url)
  if (scp !== null && !url.startsWith('ssh:')) return scp[1] ?? ''
  const { hostname, port } = new URL(url)
  return port === '' || port === '22' ? hostname : `[${hostname}]:${port}`
}
