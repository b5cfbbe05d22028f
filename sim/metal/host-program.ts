import { HOST_PROGRAMS } from '../../src/model/host-item.ts'
import type { Box } from '../world/types.ts'
import { reboot } from './box.ts'
import type { HostOutcome } from './host-command.ts'
import { hostProgram } from './host-commands.ts'
import { decoded, probeHost } from './host-probe.ts'
import { REVERTS, runRevert } from './host-revert.ts'
import { hostStateOf } from './host-state.ts'

/** Answers as croft's programs for hosts do. Undefined: another program. */
export function runHostProgram(box: Box, argv: readonly string[], input: string): HostOutcome | undefined {
  const [program = '', flag = '', script = '', , ...args] = argv
  if (program === '/bin/sh' && flag.startsWith(REVERTS)) return takeBack(box, flag)
  if (program === 'sh' && flag === '-c') {
    if (script.startsWith(HOST_PROGRAMS.probe)) return { out: probeHost(box, input) }
    if (script.startsWith(HOST_PROGRAMS.batch)) return { out: batch(box, input) }
    if (script.startsWith(HOST_PROGRAMS.arm)) return arm(box, args)
    if (script.startsWith(HOST_PROGRAMS.disarm)) return disarm(box, args)
    if (script.startsWith(HOST_PROGRAMS.login)) return {}
    return undefined
  }
  if (program === 'stat' && script === '%a') return statMode(box, argv.at(-1) ?? '')
  // Programs that go to a host by themselves, because they have an input of their own.
  return argv[0] === 'mkdir' ? hostProgram(box, argv) : undefined
}

function statMode(box: Box, path: string): HostOutcome {
  const rights = hostStateOf(box).rights.get(path)
  if (box.machine.files.read(path) === undefined)
    return { err: `stat: cannot statx '${path}': No such file or directory\n`, code: 1 }
  return { out: `${rights?.mode ?? '644'}\n` }
}

/** The moment at which its power is cut, where a test asked for one. */
function isCut(box: Box): boolean {
  const state = hostStateOf(box)
  if (state.cutAfter === undefined || --state.cutAfter > 0) return false
  state.cutAfter = undefined
  reboot(box.computer.world, box)
  return true
}

/** Does one command after another until one fails. */
function batch(box: Box, input: string): string {
  const state = hostStateOf(box)
  let done = 0
  for (const line of input.split('\n').filter((one) => one !== '')) {
    const [what = '', ...coded] = line.split(' ')
    if (what === 'run' || what === 'packages') {
      const [ok = '0', , ...words] = coded
      const argv = words.map(decoded)
      const deed = argv.filter((word) => !word.includes('\n')).join(' ')
      if (state.breaksOnce === deed) {
        state.breaksOnce = undefined
        if (!ok.split(',').includes('1')) return `failed ${done} 1\nbroken, for once\n`
      }
      const { code = 0, out = '', err = '' } = hostProgram(box, argv)
      state.deeds.push(deed)
      if (!ok.split(',').includes(`${code}`)) return `failed ${done} ${code}\n${out}${err}\n`
    } else if (what === 'put') {
      const [path = '', who = '', mode = '0644', base64 = ''] = coded
      if (box.trouble.diskFull === true) return `failed ${done} 1\nNo space left on device\n`
      putFile(box, decoded(path), decoded(who), mode, Buffer.from(base64, 'base64'))
      state.deeds.push(`put ${decoded(path)}`)
    } else if (what === 'remove') {
      const path = decoded(coded[0] ?? '')
      box.machine.files.remove(path)
      state.links.delete(path)
      state.rights.delete(path)
      state.deeds.push(`remove ${path}`)
    }
    done++
    if (isCut(box)) return ''
  }
  return `done ${done}\n`
}

export function putFile(box: Box, path: string, who: string, mode: string, content: Uint8Array): void {
  const [owner = '', group = ''] = who.split(':')
  hostStateOf(box).rights.set(path, {
    mode: mode.replace(/^0+/, ''),
    owner: owner || 'root',
    group: group || owner || 'root',
  })
  hostStateOf(box).links.delete(path)
  box.machine.files.write(path, content)
}

/** Arms the rollback: the host takes the change back by itself unless it is confirmed in time. */
function arm(box: Box, [name = '', seconds = '90', script = '']: readonly string[]): HostOutcome {
  const { world } = box.computer
  const state = hostStateOf(box)
  const { life } = box
  const atMs = world.clock.now() + Number(seconds) * 1000
  state.armed.set(name, atMs)
  world.clock.schedule(atMs, () => {
    if (box.life === life && state.armed.get(name) === atMs) takeBack(box, script)
  })
  isCut(box)
  return {}
}

function takeBack(box: Box, script: string): HostOutcome {
  if (!runRevert(box, script, hostStateOf(box).copies)) return {}
  const state = hostStateOf(box)
  state.armed.delete(script.slice(REVERTS.length))
  state.deeds.push(`revert ${script.slice(REVERTS.length)}`)
  return {}
}

function disarm(box: Box, [name = '', script = '']: readonly string[]): HostOutcome {
  if (!box.machine.files.remove(script)) return { code: 7 }
  hostStateOf(box).armed.delete(name)
  isCut(box)
  return {}
}
