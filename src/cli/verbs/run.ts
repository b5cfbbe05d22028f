import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import {
  ConfigError,
  type ConfigOverrides,
  type ControllerConfig,
  isRemote,
  readConfig,
} from '../../controller/config.ts'
import type { RunningController } from '../../controller/controller.ts'
import { openState, sourcesIdentity, stateFile } from '../../state/state-file.ts'
import { closing } from '../load.ts'
import { eventJson, eventLine } from '../render/events.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, UsageError, type Verb } from '../verb.ts'

const WAIT_FOR_LOCK_MS = 1_000

/** Runs the controller until it is stopped: follows Git, reconciles, serves the page. */
export const run: Verb = async (runtime, [source], options) => {
  const config = await configOf(runtime, source, options)
  const file = stateFile(runtime.env, sourcesIdentity(config.sources), config.state)
  const release = await lockOrStop(runtime, file, options.wait === true)
  await using _ = { [Symbol.asyncDispose]: async () => release() }
  await using store = closing(await openState(runtime, file))
  await using opened = await runtime.openController(runtime, { config, file, store: store.it })
  const { controller } = opened
  const watchdog = await runtime.startWatchdog?.()
  using _dog = { [Symbol.dispose]: () => watchdog?.stop() }
  narrate(runtime, controller, options.log === 'json')
  await using page = await opened.servePage()
  if (page.url !== undefined) runtime.err.write(`The page is at ${page.url}\n`)
  await controller.run(runtime.signal)
  return 'stopped'
}

async function configOf(
  runtime: Runtime,
  source: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<ControllerConfig> {
  if (source !== undefined && !isRemote(source)) mustBeDirectory(runtime, source)
  const named = (options.config as string | undefined) ?? runtime.env.CROFT_CONFIG
  if (source === undefined && (named ?? '') === '' && (runtime.env.CROFT_SOURCE ?? '') === '')
    throw new UsageError(
      'croft run has nothing to follow. Name a directory or a repository (croft run infra/), or a configuration (croft run --config /etc/croft/croft.yaml).',
    )
  const text = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {})
  const flags: ConfigOverrides = {
    ...(source === undefined ? {} : { source }),
    ...text('state'),
    ...text('listen'),
    ...text('branch'),
    ...text('path'),
    ...text('poll'),
  }
  try {
    return readConfig(
      named === undefined || named === '' ? undefined : await readYaml(runtime, named),
      runtime.env,
      flags,
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const text = named === undefined || named === '' ? undefined : textOf(runtime, named)
    const { fieldPlace } = await import('../../source/yaml/problem-at.ts')
    const lines = error.problems.map(({ path: at, message }) => {
      if (text === undefined) return message
      const { line, column } = fieldPlace(text, at)
      return `${named}:${line}:${column}  ${message}`
    })
    const next =
      text === undefined
        ? 'Correct the command or the variables CROFT_…; what has no option goes into a file: croft run --config FILE, see docs/run.md.'
        : 'Correct it, or see docs/run.md.'
    throw new UsageError(`The configuration cannot be used:\n${lines.join('\n')}\n${next}`)
  }
}

/** A directory on the command line must exist now: its absence is a mistake. */
function mustBeDirectory(runtime: Runtime, source: string): void {
  const found = statSync(path.resolve(runtime.cwd, source), { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  throw new UsageError(
    found === undefined
      ? `There is no directory ${source}. Name the directory or the repository (https:// or ssh://) to follow.`
      : `${source} is a file. Name the directory or the repository to follow; for a configuration: croft run --config ${source}`,
  )
}

function textOf(runtime: Runtime, name: string): string {
  try {
    return readFileSync(path.resolve(runtime.cwd, name), 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(`The configuration ${name} cannot be read: ${why}. Correct it, or name another with --config.`)
  }
}

async function readYaml(runtime: Runtime, name: string): Promise<unknown> {
  const text = textOf(runtime, name)
  try {
    return await runtime.parseYaml(text)
  } catch (error) {
    const [{ readFullYaml }, { placeOf }] = await Promise.all([
      import('../../source/yaml/full-yaml.ts'),
      import('../../source/yaml/text-of.ts'),
    ])
    const [found] = readFullYaml(text).findings
    const { line, column } = placeOf(text, found?.offset ?? 0)
    const why = found?.message ?? (error instanceof Error ? error.message : String(error))
    const hint = found?.hint === undefined ? '' : ` (${found.hint})`
    throw new UsageError(
      `The configuration cannot be read:\n${name}:${line}:${column}  ${why}${hint}\nCorrect it, or name another with --config.`,
    )
  }
}

async function lockOrStop(runtime: Runtime, file: string, wait: boolean): Promise<() => void> {
  let warned = false
  for (;;) {
    const locked = await runtime.lockState(file)
    if (locked.got) return () => locked.release()
    const owner = locked.owner === undefined ? '' : ` (process ${locked.owner.pid} on ${locked.owner.host})`
    const work = `croft${owner} is at work on ${file}.`
    if (!wait) throw new CliError(`Another ${work} Stop it, name another database with --state, or use --wait.`)
    if (!warned) runtime.err.write(`Waiting: another ${work}\n`)
    warned = true
    await runtime.clock.sleep(WAIT_FOR_LOCK_MS, runtime.signal)
    if (runtime.signal.aborted) throw new CliError('Stopped while waiting.')
  }
}

/** Prints events, one line each, for the system's journal. */
function narrate(runtime: Runtime, controller: RunningController, json: boolean): void {
  controller.subscribe((_view, events) => {
    const lines = events.map((event) => (json ? JSON.stringify(eventJson(event)) : eventLine(event)))
    if (lines.length > 0) runtime.out.write(`${lines.join('\n')}\n`)
  })
}
