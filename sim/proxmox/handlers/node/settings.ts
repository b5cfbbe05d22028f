import { isIP } from 'node:net'
import type { Host, World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { deletions, refuseStale } from '../collection.ts'
import { digestOf, EMPTY_DIGEST, fields, shelf, type Thing, textOf } from '../shelf.ts'
import { acmeOf } from './certificates.ts'

const AT = '/nodes/{node}'

/** What each host is told about the world around it. */
export const nodeSettingRoutes: Routes = {
  [`GET ${AT}/dns`]: (call) => resolvConfOf(call.world, hostOf(call)),
  [`PUT ${AT}/dns`]: (call) => put(call, 'dns', resolvConf(fields(call))),
  [`GET ${AT}/hosts`]: (call) => {
    const data = hostsFile(call)
    return { data, digest: digestOf(data) }
  },
  [`POST ${AT}/hosts`]: (call) => {
    refuseStale(call, digestOf(hostsFile(call)))
    checkHosts(param(call, 'data'))
    return put(call, 'hosts', { data: param(call, 'data') })
  },
  [`GET ${AT}/time`]: (call) => {
    const nowMs = call.world.clock.now()
    const timezone = textOf(kept(call, 'time')?.timezone) || 'UTC'
    return { time: Math.floor(nowMs / 1000), localtime: Math.floor(localMs(nowMs, timezone) / 1000), timezone }
  },
  [`PUT ${AT}/time`]: (call) => {
    const timezone = param(call, 'timezone')
    if (!isTimezone(timezone)) throw badParameter('timezone', 'No such timezone')
    return put(call, 'time', { timezone })
  },
  [`GET ${AT}/config`]: (call) => {
    const config = kept(call, 'config') ?? {}
    const { property } = call.params
    // A file that is not there has no digest either.
    const all: Thing = Object.keys(config).length === 0 ? {} : { description: '', ...config, digest: digest(config) }
    return property === undefined ? all : Object.fromEntries(Object.entries(all).filter(([key]) => key === property))
  },
  [`PUT ${AT}/config`]: (call) => {
    const config: Thing = { ...kept(call, 'config') }
    // A file that is not there is not compared with.
    if (Object.keys(config).length > 0) refuseStale(call, digest(config))
    // What is read of the file is text, also where it is a number.
    for (const [name, value] of Object.entries(fields(call))) config[name] = textOf(value)
    for (const name of deletions(call)) delete config[name]
    acmeOf(call, config)
    // Its lines are comments of the file, and each comes back with its end; of none there is no trace.
    if (textOf(config.description) === '') delete config.description
    else config.description = `${textOf(config.description).replace(/\n+$/, '')}\n`
    return put(call, 'config', config)
  },
}

/** Whom a host asks for names. */
export function resolvConfOf(world: World, { name }: Host): Thing {
  return shelf(world, `node/${name}`).get('dns') ?? { dns1: '10.255.255.53' }
}

/** Returns the file as it is read back: each server once, renumbered. */
function resolvConf(given: Thing): Thing {
  const written = ['dns1', 'dns2', 'dns3']
    .map((name) => textOf(given[name]))
    .filter((server) => !/^(?:0\.0\.0\.0)?$/.test(server))
  const [search] = textOf(given.search).split(/\s+/)
  return {
    ...(search === undefined || search === '' ? {} : { search }),
    ...Object.fromEntries([...new Set(written)].map((server, index) => [`dns${index + 1}`, server])),
  }
}

function checkHosts(data: string): void {
  for (const line of data.split('\n')) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const [address = '', ...names] = line.split(/\s+/)
    if (isIP(address) === 0) throw badParameter('data', `Invalid IP '${address}'`)
    const wrong = names.find((name) => !/^[.\-a-zA-Z0-9]+$/.test(name))
    if (wrong !== undefined && wrong !== '') throw badParameter('data', `Invalid Hostname '${wrong}'`)
  }
}

/** What a clock on the wall there shows, read as if it were in Greenwich. */
function localMs(nowMs: number, timeZone: string): number {
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(nowMs)
  return Date.parse(`${shown.replace(' ', 'T')}Z`)
}

/** Zones that stand in no folder. */
const ALONE: ReadonlySet<string> = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran ' +
    'Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK ' +
    'Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
)

/** Names are told apart by their letters' case, as files are. */
function isTimezone(name: string): boolean {
  if (!ALONE.has(name) && !/^[A-Z][A-Za-z]+(\/[A-Z][A-Za-z0-9_+-]*)+$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function digest(config: Thing): string {
  return Object.keys(config).length === 0 ? EMPTY_DIGEST : digestOf(config)
}

function kept(call: Call, what: string): Thing | undefined {
  return shelf(call.world, `node/${hostOf(call).name}`).get(what)
}

function put(call: Call, what: string, thing: Thing): null {
  shelf(call.world, `node/${hostOf(call).name}`).set(what, thing)
  return null
}

function hostsFile(call: Call): string {
  const host = hostOf(call)
  const data = kept(call, 'hosts')?.data
  if (typeof data === 'string') return data
  if (host.address === '') throw failed('there is no /etc/hosts')
  return `127.0.0.1 localhost\n${host.address} ${host.name}.example.test ${host.name}\n`
}
