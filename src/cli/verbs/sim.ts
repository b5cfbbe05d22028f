import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { shellQuoted } from '../../lib/shell-quoted.ts'
import { proxyEnvironment } from '../../lib/tunnel.ts'
import { writeEnvironment } from '../environment-file.ts'
import { closing } from '../load.ts'
import type { RunningSimulator, Runtime, SimulatorOptions } from '../runtime.ts'
import { type LikedManifests, type LikedSite, readLiked } from '../site/like.ts'
import { realReach } from '../site/real-reach.ts'
import { checkCopyPlace, editsFor, tokenVariable, writeCopy } from '../site/rehearsal-copy.ts'
import { type MadePart, partsOfSite, renderParts } from '../site/render-site.ts'
import { CliError, EXIT, type Options, UsageError, type Verb } from '../verb.ts'

/**
 * Serves until it is stopped. The first line tells a program the address and the token; a person at a terminal gets the
 * same in words, without the fifty checksums.
 */
export const run: Verb = async (runtime, _args, options) => {
  const { like, write, connection } = options
  if (connection !== undefined && like === undefined) throw new UsageError('--connection belongs to --like.')
  const liked = typeof like === 'string' ? await readLiked(runtime, like, connection as string | undefined) : undefined
  const manifests = liked?.manifests
  const copy = typeof write === 'string' && manifests !== undefined ? { manifests, to: write } : undefined
  if (copy !== undefined) checkCopy(runtime, copy.manifests, copy.to)
  // Simulated nodes may have the addresses of real ones: only the proxy is certain to reach the simulated ones.
  const proxied = (manifests?.estate.clusters ?? []).length > 0 ? { proxy: true } : {}
  const site = liked === undefined ? {} : { site: liked.site, ...proxied }
  const asked = { ...(options as unknown as SimulatorOptions), ...site }
  await using simulator = closing(await runtime.startSimulator(asked))
  const parts = liked === undefined ? undefined : partsOfSite(liked.site, liked.shown)
  if (copy !== undefined) await copyFor(runtime, copy.manifests, copy.to, simulator.it)
  else if (typeof write === 'string') writeConnection(path.resolve(runtime.cwd, write), simulator.it)
  const said = { ...simulator.it.announcement, ...(parts === undefined ? {} : { site: parts }) }
  runtime.out.write(runtime.out.isTty ? inWords(simulator.it, options, liked, parts) : `${JSON.stringify(said)}\n`)
  if (runtime.err.isTty) runtime.err.write('Serving until Ctrl-C.\n')
  await new Promise<void>((resolve) => {
    if (runtime.signal.aborted) return resolve()
    runtime.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  return EXIT.ok
}

function checkCopy(runtime: Runtime, { directory, estate, connection }: LikedManifests, copy: string): void {
  const reach = realReach(estate, connection.name)
  if (reach.length > 0)
    throw new CliError(
      `A copy of these manifests would still reach real computers:\n${reach.map((one) => `  ${one}`).join('\n')}\n` +
        'Leave --write out to look at the simulated site, or copy the directory without these and name that with --like.',
    )
  checkCopyPlace(directory, path.resolve(runtime.cwd, copy), copy)
}

/** Writes the copy and reads it again, to verify that it leads only to the simulator. */
async function copyFor(
  runtime: Runtime,
  { directory, estate, connection }: LikedManifests,
  copy: string,
  simulator: RunningSimulator,
): Promise<void> {
  const to = path.resolve(runtime.cwd, copy)
  const { edits, extra } = editsFor(estate, connection, simulator)
  writeCopy(directory, to, edits, extra)
  writeEnvironment(path.join(to, 'sim.env'), environmentOf(simulator, tokenVariable(connection)))
  const { connections } = (await runtime.load(to)).estate
  const astray = connections.find(({ driver, endpoint }) => driver === 'proxmox' && endpoint !== simulator.endpoint)
  if (astray !== undefined)
    throw new CliError(
      `${path.join(copy, astray.origin.file)}:${astray.origin.line} still leads to ${astray.endpoint}, because croft ` +
        `could not rewrite it. Do not use ${copy}: set endpoint ${simulator.endpoint} in a copy of your own.`,
    )
}

function inWords(
  { endpoint, fingerprint, token, proxy, announcement }: RunningSimulator,
  { write: written }: Options,
  liked: LikedSite | undefined,
  parts: readonly MadePart[] | undefined,
): string {
  const variable = liked?.manifests === undefined ? undefined : tokenVariable(liked.manifests.connection)
  const lines = [
    ...(parts === undefined ? [] : ['What the simulated site has, and where it is named:', ...renderParts(parts), '']),
    'A simulated datacentre with the API of Proxmox VE:',
    `  endpoint     ${endpoint}`,
    `  fingerprint  ${fingerprint}`,
    `  token        ${token}`,
    ...(proxy === undefined ? [] : [`  proxy        ${proxy}   (to the APIs of simulated clusters)`]),
    ...(typeof announcement.clock === 'string'
      ? [`  clock        export CROFT_SIM_CLOCK=${announcement.clock}   (croft then uses the simulated time)`]
      : []),
    ...(variable === undefined ? [] : [`  environment  export ${variable}=${shellQuoted(token)}`]),
  ]
  if (typeof written === 'string') {
    const environment = path.join(written, 'sim.env')
    lines.push(
      '',
      `In another terminal, in this directory:  . ${environment} && croft ${liked?.manifests === undefined ? 'doctor' : 'plan'} ${written}`,
    )
  }
  return `${lines.join('\n')}\n`
}

const WRITTEN = '# Written by croft sim.\n'

/** Writes the connection manifest for this simulator, and a shell file with the environment that croft needs. */
function writeConnection(directory: string, simulator: RunningSimulator): void {
  const { endpoint, fingerprint } = simulator
  const manifest = path.join(directory, 'proxmox.yaml')
  if (existsSync(manifest) && !readFileSync(manifest, 'utf8').startsWith(WRITTEN))
    throw new CliError(`${manifest} exists and was not written by croft sim. Name another directory with --write.`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    manifest,
    `${WRITTEN}apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: ${endpoint}
  fingerprint: "${fingerprint}"
  token: {env: PROXMOX_TOKEN}
`,
  )
  writeEnvironment(path.join(directory, 'sim.env'), environmentOf(simulator, 'PROXMOX_TOKEN'))
}

function environmentOf({ token, proxy, announcement }: RunningSimulator, variable: string): Record<string, string> {
  const { clock, k3s } = announcement as { readonly clock?: string; readonly k3s?: Readonly<Record<string, string>> }
  const checksums = Object.entries(k3s ?? {}).map(([release, sum]) => `${release}: ${sum}`)
  return {
    [variable]: token,
    ...(clock === undefined ? {} : { CROFT_SIM_CLOCK: clock }),
    ...(proxy === undefined ? {} : proxyEnvironment(proxy)),
    // The simulator's K3s releases are invented, so a cluster names their checksums.
    ...(k3s === undefined ? {} : { SIM_CHECKSUMS: `{${checksums.join(', ')}}` }),
  }
}
