import { ShellFailure } from '../../lib/shell.ts'
import { check, type Doctor, type Driver } from '../port.ts'
import { rules } from './rules.ts'
import { openSession } from './session.ts'

const examineHost: Doctor['examine'] = async (connection, _resources, deps, signal) => {
  if (connection.ssh === undefined || deps.openShell === undefined) return []
  const { name } = connection.ssh
  const shell = deps.openShell(connection.ssh)
  try {
    const { stdout } = await shell.run(['sh', '-c', 'id -u; . /etc/os-release; echo "$PRETTY_NAME"; uname -m'], {
      signal,
    })
    const [uid = '', os = '', arch = ''] = stdout.split('\n')
    if (uid !== '0')
      return [
        check('wrong', 'privileges', 'not-root', `${name} is reached, but not as root`, {
          fix: ['ssh: {sudo: passwordless}'],
        }),
      ]
    return [check('ok', 'connection', 'reached', `${name} is reached: ${os.replaceAll(/[^ -~]/g, '')}, ${arch}`)]
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    const authentication = error.code === 'host-key' || error.code === 'denied'
    return [check('wrong', 'connection', error.code, error.message, authentication ? { authentication } : {})]
  } finally {
    await shell.close()
  }
}

/** Hosts as their HostConfig declares them, over SSH or on this computer. */
export const sshDriver: Driver = {
  name: 'ssh',
  rules,
  connect: openSession,
  doctor: { examine: examineHost },
}
