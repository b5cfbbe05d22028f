import { createHash } from 'node:crypto'
import type { Box } from '../world/types.ts'
import { hostProgram } from './host-commands.ts'
import { type HostState, hostStateOf, textAt } from './host-state.ts'

/** Answers the questions of croft's look at a host, a line each, as the real program does. */
export function probeHost(box: Box, input: string): string {
  const state = hostStateOf(box)
  const out: string[] = []
  for (const line of input.split('\n')) {
    const [number = '', what = '', ...coded] = line.split(' ')
    if (number === '') continue
    const say = (name: string, value: string) => out.push(`${number} ${name} ${value}`)
    const tell = (name: string, text: string) => say(name, `:${Buffer.from(text).toString('base64')}`)
    const words = coded.map(decoded)
    ANSWERS[what]?.(words, { box, state, say, tell })
  }
  return `${out.join('\n')}\nend\n`
}

interface Answering {
  readonly box: Box
  readonly state: HostState
  say(name: string, value: string): void
  /** For text in which anything may be. */
  tell(name: string, text: string): void
}

const ANSWERS: Readonly<Record<string, (words: readonly string[], answering: Answering) => void>> = {
  file: ([path = '', expected], { box, state, say, tell }) => {
    const link = state.links.get(path)
    const bytes = box.machine.files.read(path)
    const folder = box.machine.files.isFolder(path)
    if (link !== undefined) {
      say('kind', 'link')
      return tell('target', link)
    }
    if (bytes === undefined && !folder) return say('kind', 'absent')
    const { mode, owner, group } = state.rights.get(path) ?? {
      mode: folder ? '755' : '644',
      owner: 'root',
      group: 'root',
    }
    say('mode', mode)
    say('owner', owner)
    say('group', group)
    if (folder) return say('kind', 'directory')
    say('kind', 'file')
    const sha256 = createHash('sha256')
      .update(bytes ?? '')
      .digest('hex')
    say('sha256', sha256)
    if (sha256 !== expected) tell('content', textAt(box, path))
  },
  package: ([name = ''], { state, say }) => {
    const version = state.packages.get(name)
    say('status', version === undefined ? 'none' : 'ii')
    if (version !== undefined) say('version', version)
  },
  unit: ([name = ''], { box, say }) => {
    const { active, enabled, files } = box.machine
    const short = name.replace(/\.service$/, '')
    const known = active.has(short) || enabled.has(short) || files.read(`/etc/systemd/system/${name}`) !== undefined
    say('load', known ? 'loaded' : 'not-found')
    say('active', active.has(short) ? 'active' : 'inactive')
    if (known) say('enabled', enabled.has(short) ? 'enabled' : 'disabled')
  },
  sysctl: ([key = ''], { box, state, say, tell }) => {
    if (key === 'kernel.hostname') return tell('value', box.computer.hostname())
    if (!/^(?:net|vm|fs|kernel)\./.test(key)) return say('asked', '1')
    tell('value', state.sysctl.get(key) ?? '0')
  },
  module: ([name = ''], { state, say }) => say('loaded', state.modules.has(name) ? '1' : '0'),
  run: (argv, { box, say, tell }) => {
    const { code = 0, out = '' } = hostProgram(box, argv)
    say('code', `${code}`)
    if (out !== '') tell('out', out)
  },
  marks: (_, { box, tell }) => {
    const folder = '/var/lib/croft/items'
    for (const name of box.machine.files.list(folder)) tell('mark', textAt(box, `${folder}/${name}`))
  },
  boot: (_, { box, say, tell }) => {
    say('id', box.machine.system.bootId)
    say('cpus', '4')
    say('memory', '8000000')
    say('free', '6000000')
    say('load', '0.40')
    tell('sensors', 'temperature 47200 cpu-thermal\n')
  },
}

/** A word as croft codes it: `=text`, with odd bytes as \0ooo. */
export function decoded(word: string): string {
  const bytes: number[] = []
  const text = word.replace(/^=/, '')
  for (let at = 0; at < text.length; at++) {
    const octal = /^\\0([0-7]{3})/.exec(text.slice(at, at + 5))?.[1]
    if (octal === undefined) bytes.push(text.charCodeAt(at))
    else {
      bytes.push(Number.parseInt(octal, 8))
      at += 4
    }
  }
  return Buffer.from(bytes).toString('utf8')
}
