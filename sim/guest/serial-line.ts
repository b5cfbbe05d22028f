/** What a person sees on the serial line of a system: a prompt for a name, one for a password, a small shell. */
export interface SerialLine {
  /** Shown to a new client, and after each typed line. */
  readonly greeting: string
  type(bytes: Uint8Array): string
}

export interface SerialSystem {
  readonly hostname: string
  readonly title: string
  run(line: string): string
}

/** Anybody gets in with it. A simulated machine has nothing to hide. */
export const SERIAL_PASSWORD = 'croft'

const LINE_LENGTH = 4_096
const [BREAK, BACKSPACE, END] = ['\u0003', /[\b\u007f]/, '\u0004']

export function serialLine({ hostname, title, run }: SerialSystem): SerialLine {
  let at: 'name' | 'password' | 'shell' = 'name'
  let name = ''
  let typed = ''
  const decoder = new TextDecoder()
  const login = `${title} ${hostname} ttyS0\r\n\r\n${hostname} login: `
  const prompt = () => `${name}@${hostname}:~${name === 'root' ? '#' : '$'} `

  const entered = (line: string): string => {
    if (at === 'name') {
      if (line.trim() === '') return `\r\n${hostname} login: `
      name = line.trim().slice(0, 32)
      at = 'password'
      return '\r\nPassword: '
    }
    if (at === 'password') {
      at = line === SERIAL_PASSWORD ? 'shell' : 'name'
      return at === 'shell'
        ? `\r\nWelcome to ${title}\r\n\r\n${prompt()}`
        : `\r\n\r\nLogin incorrect\r\n${hostname} login: `
    }
    if (line.trim() === 'exit' || line.trim() === 'logout') return leave()
    const said = line.trim() === '' ? '' : run(line).replaceAll('\n', '\r\n')
    return `\r\n${said}${prompt()}`
  }
  const leave = (): string => {
    at = 'name'
    return `\r\nlogout\r\n\r\n${login}`
  }

  return {
    greeting: login,
    type(bytes) {
      let shown = ''
      for (const character of decoder.decode(bytes, { stream: true })) {
        if (character === '\r' || character === '\n') {
          const line = typed
          typed = ''
          shown += entered(line)
        } else if (character === BREAK) {
          typed = ''
          shown += at === 'shell' ? `^C\r\n${prompt()}` : `\r\n${login}`
          if (at !== 'shell') at = 'name'
        } else if (character === END && at === 'shell' && typed === '') shown += leave()
        else if (BACKSPACE.test(character)) {
          if (typed !== '' && at !== 'password') shown += '\b \b'
          typed = typed.slice(0, -1)
        } else if (character >= ' ' && typed.length < LINE_LENGTH) {
          typed += character
          if (at !== 'password') shown += character
        }
      }
      return shown
    },
  }
}
