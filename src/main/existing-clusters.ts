import { realpath } from 'node:fs/promises'
import path from 'node:path'
import type { ExistingTools } from '../drivers/kubernetes/existing-way.ts'
import type { DriverDeps } from '../drivers/port.ts'
import { cleanText } from '../lib/clean-text.ts'
import { systemClock } from '../lib/clock.ts'
import { findProgram } from '../lib/find-program.ts'
import { LIMITS } from '../lib/limits.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { insideLogin, openCluster } from './cluster-access.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Programs that a local kubeconfig may run: absolute paths, separated by colons. */
const ALLOWED = 'CROFT_KUBECONFIG_PROGRAMS'

/** Environment variables for such a program: the user, the proxies, and those of the clouds' programs. */
const PASSED =
  /^(?:HOME|USER|LOGNAME|LANG|TZ|TMPDIR|(?:HTTPS?|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:AWS|AZURE|AAD|ARM|GOOGLE|CLOUDSDK|GCP|OCI|DIGITALOCEAN|HCLOUD)_.*)$/i

/** Returns the tools to reach foreign clusters from this computer. */
export async function existingTools(
  env: Env,
  { clock, resolveSecret }: Pick<DriverDeps, 'clock' | 'resolveSecret'>,
): Promise<ExistingTools> {
  const [{ openTlsWire }, { proxyFor }, { runChild }, { execInfo, readCredential }] = await Promise.all([
    import('../lib/tls-wire.ts'),
    import('../lib/tunnel.ts'),
    import('../ssh/child.ts'),
    import('../kubernetes/exec-credential.ts'),
  ])
  return {
    clock,
    resolveSecret,
    openWire({ endpoint, caPem, client, proxy = proxyFor(endpoint, env) }) {
      return openTlsWire({
        endpoint,
        maxSockets: LIMITS.clusterSockets,
        timeouts: { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs },
        ...(caPem === undefined ? {} : { authority: caPem }),
        ...(client === undefined ? {} : { client: { certificate: client.certificatePem, key: client.key.reveal() } }),
        ...(proxy === undefined ? {} : { proxy }),
      })
    },
    async openInside() {
      const opened = await openCluster({}, env)
      return opened.problem === undefined ? opened.wire : { problem: opened.problem }
    },
    async insideLogin() {
      return insideLogin(env)
    },
    async readFile(name, besides) {
      const base = 'file' in besides ? path.dirname(homed(besides.file, env)) : undefined
      const whole = path.isAbsolute(name) ? name : base === undefined ? undefined : path.join(base, name)
      const bytes = whole === undefined ? undefined : await readIfThere(whole).catch(() => undefined)
      return bytes === undefined || bytes.length > LIMITS.kubeconfigFileBytes ? undefined : bytes.toString('utf8')
    },
    async runProgram(program, signal) {
      const found = await findProgram(program.command, env)
      if (found === undefined)
        return { problem: `its exec names ${cleanText(program.command, 200)}, which is not here` }
      const allowed = (env[ALLOWED] ?? '').split(':').filter((one) => path.isAbsolute(one))
      const real = await Promise.all(allowed.map((one) => realpath(one).catch(() => one)))
      if (!real.includes(await realpath(found)))
        return { problem: `its exec names ${found}, and croft runs only what ${ALLOWED} lists; add it there if it may` }
      const ended = await runChild([found, ...program.args], {
        env: { ...passed(env), ...program.env, KUBERNETES_EXEC_INFO: execInfo(program) },
        input: [],
        timeoutMs: LIMITS.credentialProgramMs,
        maxBytes: LIMITS.kubeconfigFileBytes,
        group: true,
        clock: systemClock,
        signal,
      })
      if (ended.cut !== undefined || ended.unstarted !== undefined || ended.code !== 0) {
        const why =
          ended.cut ?? ended.unstarted ?? `it ended with ${ended.code}: ${cleanText(ended.stderr.trim(), 300)}`
        return { problem: `${found} gave no credentials: ${why}` }
      }
      const credential = readCredential(ended.stdout.toString('utf8'), program.apiVersion)
      return 'problem' in credential ? { problem: `${found}: ${credential.problem}` } : credential
    },
  }
}

function passed(env: Env): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && PASSED.test(entry[0]),
  )
  return { ...Object.fromEntries(kept), PATH: env.PATH ?? '/usr/local/bin:/usr/bin:/bin' }
}

function homed(file: string, env: Env): string {
  return file.startsWith('~/') && env.HOME !== undefined ? path.join(env.HOME, file.slice(2)) : path.resolve(file)
}
