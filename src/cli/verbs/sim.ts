import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { writeEnvironment } from '../environment-file.ts'
import { closing } from '../load.ts'
import type { RunningSimulator, SimulatorOptions } from '../runtime.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

/**
 * Serves until it is stopped. A program that started it reads where it answers, and with which token, from the first line;
 * a person at a terminal gets the same in words, without the fifty checksums.
 */
export const run: Verb = async (runtime, _args, options) => {
  await using simulator = closing(await runtime.startSimulator(options as unknown as SimulatorOptions))
  if (typeof options.write === 'string') writeConnection(path.resolve(runtime.cwd, options.write), simulator.it)
  runtime.out.write(
    runtime.out.isTty ? inWords(simulator.it, options.write) : `${JSON.stringify(simulator.it.announcement)}\n`,
  )
  if (runtime.err.isTty) runtime.err.write('Serving until Ctrl-C.\n')
  await new Promise<void>((resolve) => {
    if (runtime.signal.aborted) return resolve()
    runtime.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  return EXIT.ok
}

function inWords({ endpoint, fingerprint, token, proxy, announcement }: RunningSimulator, written: unknown): string {
  const lines = [
    'A simulated datacentre with the API of Proxmox VE:',
    `  endpoint     ${endpoint}`,
    `  fingerprint  ${fingerprint}`,
    `  token        ${token}`,
    ...(proxy === undefined ? [] : [`  proxy        ${proxy}   (to the APIs of simulated clusters)`]),
    ...(typeof announcement.clock === 'string'
      ? [`  clock        export CROFT_SIM_CLOCK=${announcement.clock}   (croft then uses the simulated time)`]
      : []),
  ]
  if (typeof written === 'string') {
    const environment = path.join(written, 'sim.env')
    lines.push('', `In another terminal, in this directory:  . ${environment} && croft doctor ${written}`)
  }
  return `${lines.join('\n')}\n`
}

const WRITTEN = '# Written by croft sim.\n'

/** What a directory of manifests needs to be about this simulator, and for a shell what croft needs to reach it. */
function writeConnection(directory: string, simulator: RunningSimulator): void {
  const { endpoint, fingerprint, token, proxy, announcement } = simulator
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
  const { clock, k3s } = announcement as { readonly clock?: string; readonly k3s?: Readonly<Record<string, string>> }
  const checksums = Object.entries(k3s ?? {}).map(([release, sum]) => `${release}: ${sum}`)
  const values = {
    PROXMOX_TOKEN: token,
    ...(clock === undefined ? {} : { CROFT_SIM_CLOCK: clock }),
    ...(proxy === undefined ? {} : { HTTPS_PROXY: proxy, NO_PROXY: '' }),
    // Its releases are made up, so a cluster there names their checksums.
    ...(k3s === undefined ? {} : { SIM_CHECKSUMS: `{${checksums.join(', ')}}` }),
  }
  writeEnvironment(path.join(directory, 'sim.env'), values)
}
