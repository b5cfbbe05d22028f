import { monitorEventLoopDelay } from 'node:perf_hooks'
import { cleanLines } from '../cli/render/text.ts'
import type { Runtime, ServedPage } from '../cli/runtime.ts'
import { CliError } from '../cli/verb.ts'
import type { ControllerConfig } from '../controller/config.ts'
import type { RunningController } from '../controller/controller.ts'
import { metricsText } from '../controller/view/metrics.ts'
import type { DriverDeps } from '../drivers/port.ts'
import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { OidcOptions } from '../server/auth/oidc.ts'
import type { RunningServer } from '../server/options.ts'
import type { createWebhookDoor } from '../source/git/webhook.ts'
import { credentialFiles } from '../state/secrets.ts'
import type { Store } from '../store/port.ts'

/** Serves the page and the API of a controller at its configured address. */
export async function servePage(
  runtime: Runtime,
  config: ControllerConfig,
  controller: RunningController,
  store: Store,
  webhook: ReturnType<typeof createWebhookDoor>,
  resolveSecret: DriverDeps['resolveSecret'],
): Promise<ServedPage> {
  if (config.listen === 'off') return { [Symbol.asyncDispose]: async () => {} }
  const { startServer } = await import('../server/start.ts')
  const stalls = monitorEventLoopDelay({ resolution: LIMITS.stallResolutionMs })
  stalls.enable()
  const at = config.listen.lastIndexOf(':')
  const host = config.listen.slice(0, at).replace(/^\[|\]$/g, '')
  if (!/^(?:localhost|127\.|::1$)/.test(host) && config.publicUrl?.startsWith('https:') !== true)
    runtime.err.write(
      `Warning: the page at ${config.listen} is served without TLS to others: passwords and tokens can be read on the way. Put a proxy with TLS before it and set publicUrl, or listen on 127.0.0.1.\n`,
    )
  const listening: RunningServer = await startServer({
    controller,
    clock: runtime.clock,
    version: runtime.version,
    host,
    port: Number(config.listen.slice(at + 1)),
    names: config.names,
    trustedProxies: config.trustedProxies,
    signedInOnly: config.reading === 'signed-in',
    needsSecondFactor: config.secondFactor === 'required',
    webhook,
    metrics: () => {
      // Nanoseconds.
      const stallMs = stalls.max / 1e6
      return metricsText(controller.view(), controller.counters(), runtime.version, runtime.clock.now(), stallMs)
    },
    warn: (message) => runtime.err.write(`Warning: ${message}\n`),
    audit: ({ atMs, actor, what, about, result, message }) => {
      const entry = { atMs, actor: actor.name, from: actor.from, what, subject: about, outcome: result, message }
      // A full disk ends the controller by its own writes, in good order; here it must only not end the process.
      store.appendAudit(entry).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error)
        runtime.err.write(`Warning: the audit log could not be written: ${cleanLines(why)}\n`)
      })
    },
    ...defined({ publicUrl: config.publicUrl, status: config.status }),
    usersFile: config.users ?? credentialFiles(runtime.env).users,
    tokensFile: config.tokens ?? credentialFiles(runtime.env).tokens,
    ...(config.oidc === undefined ? {} : { oidc: oidcOf(config, config.oidc, resolveSecret) }),
  }).catch((error: unknown): never => {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    const why = taken ? 'another program uses that port' : error instanceof Error ? error.message : String(error)
    throw new CliError(
      `The page cannot be served at ${config.listen}: ${why}. Choose another address with --listen, or --listen off.`,
    )
  })
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      stalls.disable()
      await listening.close()
    },
  }
}

/** Returns the settings of sign-in through a provider. The client's secret is read on use. */
function oidcOf(
  { listen, publicUrl }: Pick<ControllerConfig, 'listen' | 'publicUrl'>,
  { clientSecret, scopes, nameClaim, roleClaim, roles, ...rest }: NonNullable<ControllerConfig['oidc']>,
  resolveSecret: DriverDeps['resolveSecret'],
): OidcOptions {
  const base = publicUrl ?? `http://${listen}`
  return {
    ...rest,
    redirectUrl: new URL('/api/sign-in/oidc/callback', base).href,
    ...(clientSecret === undefined ? {} : { clientSecret: async () => (await resolveSecret(clientSecret)).word() }),
    ...defined({ scopes, nameClaim, roleClaim, roles }),
  }
}
