import { type Shell, ShellFailure } from '../../../lib/shell.ts'

const WRITES =
  /^(?:define|undefine|start|shutdown|destroy|resume|autostart|detach-disk|change-media|blockresize|(?:net|pool)-(?:define|undefine|start|destroy|autostart)|vol-(?:create|delete|resize|upload|clone)\S*)$/

/** A shell to the test world that counts calls and can lose or corrupt them. */
export interface FaultyShell extends Shell {
  calls(): number
  writes(): number
  /** Every write as requested, with its stdin. */
  written(): readonly string[]
  hide(): void
  refuse(on: boolean): void
  loseNext(how: 'answer' | 'request' | 'refused'): void
  spoilNext(how: 'html' | 'truncated' | 'empty'): void
}

export function faultyShell(inner: Shell): FaultyShell {
  let calls = 0
  const written: string[] = []
  let hidden = false
  let refused = false
  let lose: 'answer' | 'request' | 'refused' | undefined
  let spoil: 'html' | 'truncated' | 'empty' | undefined
  return {
    ...inner,
    async run(argv, options = {}) {
      calls++
      if (refused) throw new ShellFailure('no', 'denied', 'the host did not accept the key')
      const word = argv[argv.indexOf('virsh') + 3] ?? ''
      const isWrite = WRITES.test(word) || argv[0] === 'setsid'
      if (isWrite) written.push(`${argv.join(' ')}\n${String(options.input ?? '')}`)
      const [losing, spoiling] = isWrite ? [lose, spoil] : [undefined, undefined]
      if (isWrite) lose = spoil = undefined
      if (losing === 'refused') throw new ShellFailure('no', 'unreachable', 'no route to the host')
      if (losing === 'request') throw new ShellFailure('maybe', 'timeout', 'the connection was lost')
      const input =
        hidden && typeof options.input === 'string' ? options.input.replace(/^list .*$/gm, '') : options.input
      const ran = await inner.run(argv, { ...options, ...(input === undefined ? {} : { input }) })
      if (losing === 'answer') throw new ShellFailure('maybe', 'timeout', 'the connection was lost')
      if (spoiling === 'html') return { code: 0, stdout: '<html>Bad gateway</html>', stderr: '' }
      if (spoiling === 'truncated') return { code: 0, stdout: ran.stdout.trim().slice(0, 3), stderr: '' }
      return spoiling === 'empty' ? { code: 0, stdout: '', stderr: '' } : ran
    },
    calls: () => calls,
    writes: () => written.length,
    written: () => written,
    hide: () => {
      hidden = true
    },
    refuse: (on) => {
      refused = on
    },
    loseNext: (how) => {
      lose = how
    },
    spoilNext: (how) => {
      spoil = how
    },
  }
}
