import type { Command, Outcome, Session } from '../guest/commands.ts'
import { between } from '../world/chance.ts'
import { BINARY, programText, unitName, unitPath } from './disk.ts'
import { startService } from './service.ts'

export const INSTALLER_URL = 'https://get.k3s.io'
/** The release that the installer takes by default. */
export const STABLE = 'v1.34.3+k3s1'

/** What lies behind the address of the installer: for the small shell, one program that does what the real script does. */
const SCRIPT = '#!/bin/sh\nk3s-installer "$1"\n'

/** Fetches the installer of K3s to a file, and nothing else. */
export const curl: Command = ({ args }, session) => {
  const to = args[args.indexOf('-o') + 1]
  const from = args.find((arg) => arg.includes('://')) ?? ''
  if (session.machine.trouble.noNetwork === true) return { err: 'curl: (28) Connection timed out\n', code: 28 }
  if (from.replace(/\/$/, '') !== INSTALLER_URL || !args.includes('-o') || to === undefined)
    return { err: `curl: (22) The requested URL returned error: 404\n`, code: 22 }
  session.machine.files.write(to, SCRIPT)
  return {}
}

/** Downloads the program, writes its unit, enables and starts it. */
export const k3sInstaller: Command = ({ args }, { computer }: Session): Outcome => {
  const role = args[1] === 'agent' ? 'agent' : 'server'
  const { world, machine } = computer
  const life = machine.life
  world.clock.schedule(world.clock.now() + between(world.random, world.k3s.timing.installMs), () => {
    if (machine.life !== life) return
    machine.files.write(BINARY, programText(STABLE))
    machine.files.write(unitPath(role), `[Service]\nExecStart=${BINARY} ${role}\n`)
    machine.enabled.add(unitName(role))
    startService(computer)
  })
  return { out: `[INFO]  Using ${STABLE} as release\n[INFO]  systemd: Starting ${unitName(role)}\n` }
}
