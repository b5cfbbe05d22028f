import path from 'node:path'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import { yamlWord } from '../../../lib/yaml-word.ts'
import { Secret, type SshTarget } from '../../../model/secret.ts'
import { realDirectory } from '../../../state/state-file.ts'
import { closing, ownState } from '../../load.ts'
import { note } from '../../output.ts'
import { clean } from '../../render/text.ts'
import type { Enrolment, Runtime } from '../../runtime.ts'
import { saidYes } from '../../said-yes.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError } from '../../verb.ts'
import { noteOperation } from '../machine/find.ts'
import { textOf } from './find.ts'

const DROP_IN = '/etc/ssh/sshd_config.d/00-croft.conf'
const CLOSED = 'KbdInteractiveAuthentication no\nPasswordAuthentication no\n'
const RELOAD =
  'systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || { [ -s /run/sshd.pid ] && kill -HUP "$(cat /run/sshd.pid)"; }'

/**
 * Gives croft access to a host that only accepts passwords: makes and installs a key, proves it, then disables
 * passwords. Prints the manifest for Git.
 */
export async function enroll(runtime: Runtime, name: string, options: Options): Promise<ExitCode> {
  if (!/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name))
    throw new UsageError('Name the host: croft host enroll cow --address 192.168.14.2.')
  if (runtime.enrolment === undefined) throw new CliError('No host can be enrolled from here.')
  const { address, user, port } = wayOf(options)
  const enrolment = await runtime.enrolment()
  const hostKey = await hostKeyOf(runtime, enrolment, name, address, port, options)
  const keyFile = keyPath(runtime, options)
  const publicKey = enrolment.ensureKey(keyFile, `croft@${name}`)
  const password = await passwordOf(runtime, `${user}@${address}`, options)
  const base = { name, address, port, user, hostKeys: [hostKey] }
  const sudo: SshTarget['sudo'] = user === 'root' ? 'none' : { password: { env: PASSWORD } }
  const target: SshTarget = { ...base, key: { file: keyFile }, sudo }
  const real = realDirectory(runtime, textOf(options.dir))
  // The password is found under a name of our own, by this command only.
  const env = { ...runtime.env, [PASSWORD]: password.reveal() }
  const { deps } = await runtime.openDrivers({ directory: real, env })
  if (deps.openShell === undefined) throw new CliError('No shell can be opened here.')
  try {
    await enrolment.installKey({ ...base, sudo: 'none' }, publicKey, password)
    await using shell = closing(deps.openShell(target))
    await shell.it.run(['true'], { signal: runtime.signal })
    note(runtime, `${name} lets the key in.`)
    const without = await mayWithoutPassword(
      deps.openShell({ ...target, sudo: user === 'root' ? 'none' : 'passwordless' }),
    )
    if (options.keepPassword !== true)
      await closePasswords(runtime, shell.it, name, () =>
        prove(runtime, () => deps.openShell?.({ ...target, name: `${name} (proof)` })),
      )
    await using store = await ownState(runtime, real, options)
    await noteOperation(
      runtime,
      store.it,
      `Host/${name}`,
      'enroll',
      'done',
      options.keepPassword === true ? 'a key was installed' : 'a key was installed and passwords were closed',
    )
    runtime.out.write(manifest(name, base, keyFile, publicKey, user === 'root' || without, options))
    return EXIT.ok
  } catch (error) {
    if (error instanceof ShellFailure)
      throw new CliError(
        `${error.message}`,
        error.code === 'denied' || error.code === 'host-key' ? EXIT.unauthorized : EXIT.failed,
      )
    throw error
  }
}

const PASSWORD = 'CROFT_ENROLLING_PASSWORD'

function wayOf(options: Options) {
  const address = textOf(options.address ?? '')
  const user = textOf(options.user ?? 'root')
  const port = Number(options.port ?? 22)
  if (!/^[A-Za-z0-9][A-Za-z0-9.:-]*$/.test(address)) throw new UsageError('Say where it is: --address 192.168.14.2.')
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(user))
    throw new UsageError(`--user ${clean(user)} is not a user name. Correct it.`)
  return { address, user, port }
}

/** Returns the key that a person gave, or the server's after a person has compared it. Never an unverified one. */
async function hostKeyOf(
  runtime: Runtime,
  enrolment: Enrolment,
  name: string,
  address: string,
  port: number,
  options: Options,
): Promise<string> {
  if (options.hostKey !== undefined) return textOf(options.hostKey).split(' ').slice(0, 2).join(' ')
  const [shown] = await enrolment.shownHostKeys(address, port)
  if (shown === undefined)
    throw new CliError(`Nobody answers SSH at ${address} port ${port}. Correct --address and --port.`)
  note(runtime, `${address} shows the host key ${clean(shown.fingerprint)}.`)
  note(runtime, `Compare it on its own console: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`)
  const answer = runtime.interactive ? await runtime.ask(`Is this the key of ${name}? [y/N] `) : undefined
  if (!saidYes(answer))
    throw new CliError(
      `The host key was not confirmed, so nothing was sent. Give it with --host-key "${clean(shown.key)}" if it is the right one.`,
    )
  return shown.key
}

function keyPath(runtime: Runtime, options: Options): string {
  const home = runtime.env.HOME ?? ''
  const asked = options.key === undefined ? path.join(home, '.ssh', 'croft_ed25519') : textOf(options.key)
  return path.resolve(runtime.cwd, asked.startsWith('~/') ? path.join(home, asked.slice(2)) : asked)
}

async function passwordOf(runtime: Runtime, who: string, options: Options): Promise<Secret> {
  if (options.passwordEnv !== undefined) {
    const value = runtime.env[textOf(options.passwordEnv)]
    if (value === undefined || value === '')
      throw new CliError(
        `The environment variable ${clean(textOf(options.passwordEnv))} is not set. Set it to the password.`,
      )
    return new Secret(value)
  }
  const answer = await runtime.askSecret?.(`Password of ${who}: `)
  if (answer === undefined || answer === '')
    throw new CliError('No password was given. Run it at a terminal, or name a variable with --password-env.')
  return new Secret(answer)
}

async function mayWithoutPassword(shell: Shell): Promise<boolean> {
  try {
    return (await shell.run(['true'])).code === 0
  } catch (error) {
    if (error instanceof ShellFailure) return false
    throw error
  } finally {
    await shell.close()
  }
}

const PROOFS = 10
const PROOF_PAUSE_MS = 500

/** Retries while the server reloads its configuration and does not listen; a refused login fails at once. */
async function prove(runtime: Runtime, open: () => Shell | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await runtime.clock.sleep(PROOF_PAUSE_MS, runtime.signal)
    const shell = open()
    try {
      await shell?.run(['true'], { signal: runtime.signal })
      return
    } catch (error) {
      const away = error instanceof ShellFailure && error.code === 'unreachable'
      if (!away || attempt >= PROOFS) throw error
    } finally {
      await shell?.close()
    }
  }
}

/** Works over the open connection: if the proof fails, it can still restore the old configuration. */
async function closePasswords(runtime: Runtime, shell: Shell, name: string, proof: () => Promise<void>): Promise<void> {
  const before = await shell.readFile(DROP_IN)
  const restore = async () => {
    if (before === undefined) await shell.run(['rm', '-f', '--', DROP_IN])
    else await shell.writeFile(DROP_IN, before, { mode: 0o600 })
    await shell.run(['sh', '-c', RELOAD])
  }
  await shell.run(['mkdir', '-p', '/etc/ssh/sshd_config.d'])
  await shell.writeFile(DROP_IN, CLOSED, { mode: 0o600 })
  const tested = await shell.run(['sshd', '-t'])
  if (tested.code !== 0) {
    await restore()
    throw new CliError(
      `sshd would not start with passwords closed, so they stay open: ${clean(tested.stderr)}. Correct its configuration.`,
    )
  }
  const inForce = await shell.run(['sshd', '-T', '-C', 'user=root,host=localhost,addr=127.0.0.1'])
  if (!/^passwordauthentication no$/m.test(inForce.stdout)) {
    await restore()
    throw new CliError(
      `${name} does not read ${DROP_IN}, so it still takes passwords. Let /etc/ssh/sshd_config begin with Include /etc/ssh/sshd_config.d/*.conf, or enroll it with --keep-password.`,
    )
  }
  await shell.run(['sh', '-c', RELOAD])
  try {
    await proof()
  } catch (error) {
    await restore()
    if (!(error instanceof ShellFailure)) throw error
    throw new CliError(
      `With passwords disabled ${name} accepted no login, so croft enabled them again: ${error.message}. Look at its sshd.`,
    )
  }
  note(runtime, `${name} takes no passwords any more.`)
}

function manifest(
  name: string,
  base: { address: string; user: string; port: number; hostKeys: readonly string[] },
  keyFile: string,
  publicKey: string,
  passwordless: boolean,
  options: Options,
): string {
  const port = base.port === 22 ? '' : `    port: ${base.port}\n`
  const sudo = passwordless ? '' : '    sudo: {password: {env: SUDO_PASSWORD}}\n'
  return `# The key that ${name} now lets in:
# ${publicKey}
apiVersion: croft.dev/v1alpha1
kind: Host
metadata:
  name: ${yamlWord(name)}
spec:
  ssh:
    address: ${yamlWord(base.address)}
    user: ${yamlWord(base.user)}
${port}    hostKeys:
      - ${base.hostKeys[0] ?? ''}
    key: {file: ${yamlWord(options.key === undefined ? '~/.ssh/croft_ed25519' : keyFile)}}
${sudo}`
}
