import { z } from 'zod'
import { explain } from '../kinds/fields/explain.ts'
import { matching } from '../kinds/fields/text.ts'
import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { SecretReference } from '../model/secret.ts'
import { refusedRef, refusedRemote } from '../source/git/git-names.ts'
import { grantSchema } from './sources/grant-schema.ts'
import { USUAL_API } from './wishes/forge.ts'

/** One problem of the configuration, with its field. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The problems of the controller's configuration, one sentence each. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ message }) => message).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

const duration = z.string().transform((text, context) => {
  const ms = durationMs(text)
  if (ms !== undefined) return ms
  context.addIssue({ code: 'custom', message: 'a duration like 30s, 5m or 1h' })
  return z.NEVER
})

const safePath = matching(/^\/[A-Za-z0-9_./@+-]+$/, 'the whole path of a file, without spaces', 1024)

const secret: z.ZodType<SecretReference> = z.union([
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
  z.strictObject({ file: safePath }),
])

const sourceName = matching(/^[a-z0-9][a-z0-9-]{0,62}$/, 'small letters, digits and dashes')

const source = z
  .strictObject({
    name: sourceName.default('main'),
    /** URL of the repository: https:// or ssh://. */
    url: z.string().optional(),
    /** A directory of this machine instead of a repository. */
    directory: z.string().min(1).max(1024).optional(),
    branch: z.string().optional(),
    tag: z.string().optional(),
    path: matching(
      /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[^\u0000-\u001f]+$/,
      'a path inside the repository',
      LIMITS.pathBytes,
    ).optional(),
    poll: duration.default(60_000),
    /** Shared with the forge that sends push notices. */
    webhook: secret.optional(),
    /** For https: a token, sent as the password of this user. */
    token: secret.optional(),
    user: z
      .string()
      .regex(/^[A-Za-z0-9._-]+$/)
      .default('git'),
    /** For https: the CA of the server's certificate, if the system does not trust it. */
    ca: safePath.optional(),
    /** For SSH: our key, and the host key that the other side must show. */
    ssh: z
      .strictObject({
        key: safePath.optional(),
        hostKey: matching(
          /^(?:ssh-ed25519|ecdsa-sha2-nistp(?:256|384|521)|ssh-rsa) [A-Za-z0-9+/=]+$/,
          'a host key like "ssh-ed25519 AAAA…", as ssh-keyscan prints it',
        ),
      })
      .optional(),
    /** The plan is written under pull requests into the branch that is followed. The token may write comments there. */
    pullRequests: z
      .strictObject({
        forge: z.enum(['github', 'gitlab', 'gitea']),
        repository: matching(/^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)+$/, 'owner/name, or the path of a project', 500),
        /** API of the forge, for Gitea, Forgejo and self-hosted forges. */
        api: matching(
          /^https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[A-Za-z0-9._-]+)*$/,
          'an address like https://git.example',
          500,
        ).optional(),
        token: secret,
        poll: duration.default(300_000),
      })
      .optional(),
    /** File with the source's age keys. Default: the keys of croft's operator, or none for a source with a grant. */
    age: safePath.optional(),
    /** Names that its objects may use. Default: all. */
    grant: grantSchema.optional(),
    /** Follows a revision with errors as far as possible, without deletions; otherwise the last whole one stays. */
    keepGoing: z.boolean().optional(),
    /** `manual`: a new commit is planned, and comes into force when a person approves exactly that plan. */
    apply: z.enum(['automatic', 'manual']).default('automatic'),
    /** Commits must be signed: OpenSSH's allowed_signers file, or a GnuPG home. */
    signers: z.union([z.strictObject({ ssh: safePath }), z.strictObject({ gpg: safePath })]).optional(),
  })
  .superRefine((given, context) => {
    const wrong = (message: string, field: string) => context.addIssue({ code: 'custom', message, path: [field] })
    if ((given.url === undefined) === (given.directory === undefined)) wrong('one of url and directory', 'url')
    for (const ref of ['branch', 'tag'] as const)
      if (given.directory !== undefined && given[ref] !== undefined)
        wrong(
          `a directory is followed as its files are: check the ${ref} out there, or follow the repository by url`,
          ref,
        )
    if (given.branch !== undefined && given.tag !== undefined) wrong('one of branch and tag', 'tag')
    const remote = given.url === undefined ? undefined : refusedRemote(given.url)
    if (remote !== undefined) wrong(remote, 'url')
    const ref = refusedRef(given.tag ?? given.branch ?? 'main')
    if (ref !== undefined) wrong(ref, given.tag === undefined ? 'branch' : 'tag')
    if (remote === undefined && given.url?.startsWith('https:') === false && given.ssh === undefined)
      wrong(
        'ssh.hostKey is missing: without it croft cannot verify the server; ssh-keyscan HOST prints it, compare it with what its owner publishes',
        'ssh',
      )
    if (given.poll < 1_000) wrong('at least 1s', 'poll')
    const pulls = given.pullRequests
    if (pulls === undefined) return
    if (given.url === undefined || given.tag !== undefined)
      wrong('only where a branch of a repository is followed', 'pullRequests')
    if (pulls.poll < 10_000) wrong('poll: at least 10s', 'pullRequests')
    if ((pulls.api ?? USUAL_API[pulls.forge]) === undefined)
      wrong('api is missing: set the address of the forge', 'pullRequests')
  })

const publicName = z.string().min(1).max(LIMITS.statusTextLength)
const statusEntry = z
  .strictObject({
    check: publicName.optional(),
    cluster: publicName.optional(),
    host: publicName.optional(),
    /** The public name on the status page. */
    as: publicName.optional(),
  })
  .transform(({ as, ...given }, context) => {
    const [found, ...more] = (['check', 'cluster', 'host'] as const).flatMap((what) => {
      const subject = given[what]
      return subject === undefined ? [] : [{ what, subject }]
    })
    if (found !== undefined && more.length === 0) return { ...found, as: as ?? found.subject }
    context.addIssue({ code: 'custom', message: 'one of check, cluster and host' })
    return z.NEVER
  })

const schema = z.strictObject({
  state: z.string().min(1).optional(),
  /** `127.0.0.1:8087`, or `off`. */
  listen: matching(
    /^(?:off|(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):[0-9]{1,5})$/,
    'an address and a port like 127.0.0.1:8087, or off',
  ).default('127.0.0.1:8087'),
  names: z.array(z.string().max(255)).max(20).default([]),
  publicUrl: z.string().max(500).optional(),
  /** Addresses of proxies whose X-Forwarded-For counts. */
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .max(50)
    .default([]),
  /** `signed-in`: reading needs a session or a token too. */
  reading: z.enum(['anybody', 'signed-in']).default('anybody'),
  /** `required`: approving and switching off on the page needs a code of an authenticator app. */
  secondFactor: z.enum(['offered', 'required']).default('offered'),
  /** A public page at /status. It shows only the things listed here. */
  status: z
    .strictObject({
      title: publicName.default('Status'),
      show: z.array(statusEntry).min(1).max(LIMITS.statusEntries),
    })
    .optional(),
  users: z.string().max(1024).optional(),
  tokens: z.string().max(1024).optional(),
  /** People sign in with an OpenID Connect provider. It sends them back to publicUrl, or to where we listen. */
  oidc: z
    .strictObject({
      issuer: z.url(),
      clientId: z.string().min(1).max(256),
      clientSecret: secret.optional(),
      scopes: z.array(z.string().max(100)).max(20).optional(),
      nameClaim: z.string().max(100).optional(),
      roleClaim: z.string().max(100).optional(),
      roles: z.record(z.string().max(256), z.enum(['viewer', 'operator', 'admin'])).optional(),
    })
    .optional(),
  /** File with the age keys that open encrypted files; else where sops itself looks. */
  age: z.string().max(1024).optional(),
  /** Addresses of repositories must begin with one of these. Without it every https and ssh address may be used. */
  allow: z.array(z.string().min(1).max(500)).max(100).optional(),
  sources: z.array(source).min(1).max(50),
})

export type ControllerConfig = z.output<typeof schema>
export type SourceConfig = ControllerConfig['sources'][number]

/** Settings from the command line and the environment. */
export interface ConfigOverrides {
  readonly state?: string
  readonly listen?: string
  /** A directory or an address: takes the place of the sources in the file. */
  readonly source?: string
  readonly branch?: string
  readonly path?: string
  readonly poll?: string
}

/** Merges a file's content, the environment and the flags, each overriding the one before. Pure. */
export function readConfig(
  file: unknown,
  env: Readonly<Record<string, string | undefined>>,
  flags: ConfigOverrides,
): ControllerConfig {
  const set = (name: string) => (env[name] === undefined || env[name] === '' ? undefined : env[name])
  const over: ConfigOverrides = {
    ...defined({
      state: set('CROFT_STATE'),
      listen: set('CROFT_LISTEN'),
      source: set('CROFT_SOURCE'),
      branch: set('CROFT_BRANCH'),
      path: set('CROFT_PATH'),
      poll: set('CROFT_POLL'),
    }),
    ...defined(flags),
  }
  const base = file === null || typeof file !== 'object' ? {} : (file as Readonly<Record<string, unknown>>)
  const sources = over.source === undefined ? base.sources : [oneSource(over)]
  const given = {
    ...base,
    ...defined({ state: over.state, listen: over.listen, sources }),
  }
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw new ConfigError(parsed.error.issues.flatMap((issue) => sentences(issue, given)))
  const problems = [...namesTwice(parsed.data), ...notAllowed(parsed.data)]
  if (problems.length > 0) throw new ConfigError(problems)
  return parsed.data
}

/** Returns why the allow-list forbids following a URL. */
export function outsideAllowed(url: string, allow: readonly string[] | undefined): string | undefined {
  if (allow === undefined || allow.some((prefix) => begins(url, prefix))) return undefined
  return `${url} is not in the list of addresses that may be followed`
}

/** `https://example.org/me` allows `https://example.org/me/x`, not `https://example.org/mean`. */
function begins(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false
  return url.length === prefix.length || prefix.endsWith('/') || prefix.endsWith(':') || url[prefix.length] === '/'
}

/** Reports whether this is the URL of a repository, and not a local directory. */
export function isRemote(where: string): boolean {
  return /^(?:https:|ssh:|[a-z_][a-z0-9_-]*@[^/]+:)/.test(where) || /^[a-z]+:/.test(where)
}

function oneSource({ source: where = '', branch, path, poll }: ConfigOverrides): Readonly<Record<string, unknown>> {
  return { ...(isRemote(where) ? { url: where } : { directory: where }), ...defined({ branch, path, poll }) }
}

function namesTwice({ sources }: ControllerConfig): readonly ConfigProblem[] {
  const names = sources.map(({ name }) => name)
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: ['sources', index], message: `sources: two are called ${name}; give each its own name` }],
  )
}

function notAllowed({ sources, allow }: ControllerConfig): readonly ConfigProblem[] {
  return sources.flatMap(({ name, url }, index) => {
    const outside = url === undefined ? undefined : outsideAllowed(url, allow)
    return outside === undefined
      ? []
      : [{ path: ['sources', index, 'url'], message: `sources.${name}.url: ${outside}` }]
  })
}

/** Turns a schema issue into sentences, the library's own ones as for manifests. Never contains a secret. */
function sentences(issue: z.core.$ZodIssue, given: unknown): readonly ConfigProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol')
  if (issue.code === 'unrecognized_keys' || issue.code === 'invalid_type')
    return explain(schema, new z.ZodError([issue]), given, []).map(({ path: at, message, hint }) => ({
      path: at,
      message: hint === undefined ? message : `${message}; ${hint}`,
    }))
  const name = path.length === 0 ? 'the configuration' : path.join('.')
  if (issue.code === 'invalid_union' && SECRETS.has(String(path.at(-1))))
    return [{ path, message: `${name}: say where the secret is found, {env: NAME} or {file: /path}, never the secret` }]
  return [{ path, message: `${name}: ${issue.message}` }]
}

/** Fields that hold a reference to a secret. */
const SECRETS: ReadonlySet<string> = new Set(['token', 'webhook', 'clientSecret'])

function durationMs(text: string): number | undefined {
  const parts = /^(?:(\d{1,4})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?$/.exec(text)
  if (text === '' || parts === null) return undefined
  const [h = 0, m = 0, s = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return (h * 3600 + m * 60 + s) * 1000
}
