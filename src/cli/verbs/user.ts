import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { isRole, ROLES } from '../../server/auth/roles.ts'
import { newTotpSecret, totpUri } from '../../server/auth/totp.ts'
import { unguessable } from '../../server/auth/unguessable.ts'
import { endSessions, removeUser, setTotp, setUser, type UsersFile, usersFile } from '../../server/auth/users.ts'
import { credentialFiles } from '../credentials.ts'
import { CliError, EXIT, UsageError } from '../exit.ts'
import { styleOf, writeJson } from '../output.ts'
import { renderTable } from '../render/table.ts'
import type { Runtime } from '../runtime.ts'
import type { Verb } from '../verb.ts'

/** Who may change things on the page: `set`, `list`, `totp`, `sign-out`, `remove`. */
export const run: Verb = async (runtime, [what, name], options) => {
  const file = (options.file as string | undefined) ?? credentialFiles(runtime.env).users
  const users = usersFile(path.resolve(runtime.cwd, file))
  switch (what) {
    case 'set': {
      if (name === undefined || !/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name))
        throw new UsageError(
          'Name the user: letters, digits, dots, dashes, at most 64. Run croft user set NAME --role R.',
        )
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      await set(runtime, users, name, options)
      return EXIT.ok
    }
    case 'list': {
      const { users: all } = await users.read()
      const shown = all.map((one) => ({
        name: one.name,
        role: one.role,
        signIn: one.disabled === true ? 'disabled' : one.password === undefined ? 'provider only' : 'password',
        secondFactor: one.totp !== undefined,
      }))
      if (options.output === 'json') writeJson(runtime.out, { users: shown })
      else
        runtime.out.write(
          renderTable(
            ['NAME', 'ROLE', 'SIGNS IN BY', 'SECOND FACTOR'].map((title) => ({ title })),
            shown.map((one) => [one.name, one.role, one.signIn, one.secondFactor ? 'app' : 'none']),
            styleOf(runtime, runtime.out),
          ),
        )
      return EXIT.ok
    }
    case 'remove':
      if (name === undefined || !(await removeUser(users, name)))
        throw new CliError(`There is no user ${name ?? ''} in ${file}. Run croft user list to see them.`)
      runtime.err.write(`${name} is removed; open sessions have ended.\n`)
      return EXIT.ok
    case 'totp': {
      const secret = options.remove === true ? undefined : newTotpSecret()
      if (name === undefined || !(await setTotp(users, name, secret)))
        throw new CliError(`There is no user ${name ?? ''} in ${file}. Run croft user list to see them.`)
      if (secret === undefined)
        runtime.err.write(`${name} has no authenticator app any more; open sessions have ended.\n`)
      else {
        runtime.err.write(
          `Approving and switching off asks ${name} for a code from now on; open sessions have ended.\nGive this address to an authenticator app. It is shown this once:\n`,
        )
        runtime.out.write(`${totpUri(secret, name, 'croft')}\n`)
      }
      return EXIT.ok
    }
    case 'sign-out':
      if (name === undefined || !(await endSessions(users, name)))
        throw new CliError(`There is no user ${name ?? ''} in ${file}. Run croft user list to see them.`)
      runtime.err.write(`All sessions of ${name} have ended.\n`)
      return EXIT.ok
    default:
      throw new UsageError(`croft user ${what ?? ''} is not known. Use set, list, totp, sign-out or remove.`)
  }
}

async function set(
  runtime: Runtime,
  users: UsersFile,
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { role, passwordFile, password } = options
  if (!isRole(role)) throw new UsageError(`Say what ${name} may do with --role: ${ROLES.join(', ')}.`)
  const { oidcIssuer: issuer, oidcSubject: subject } = options
  if ((typeof issuer === 'string') !== (typeof subject === 'string'))
    throw new UsageError('Name both --oidc-issuer and --oidc-subject: together they say who it is.')
  const link = typeof issuer === 'string' && typeof subject === 'string' ? { issuer, subject } : undefined
  const before = (await users.read()).users.find((one) => one.name === name)
  const known = before !== undefined
  if (before?.disabled === true) runtime.err.write(`${name} is disabled and stays so.\n`)
  if (typeof passwordFile === 'string') {
    // Never as an argument: everybody on the machine can read those.
    const given = (await readFile(path.resolve(runtime.cwd, passwordFile), 'utf8')).replace(/\r?\n$/, '')
    if (given.length < 8)
      throw new CliError(`The password in ${passwordFile} is shorter than 8 characters. Choose another.`)
    await setUser(users, name, role, given, link)
    runtime.err.write(`${name} is ${role}.\n`)
  } else if (password === false || (known && options.newPassword !== true)) {
    await setUser(users, name, role, undefined, link)
    runtime.err.write(`${name} is ${role}.\n`)
  } else {
    const made = unguessable(15)
    await setUser(users, name, role, made, link)
    runtime.err.write(`${name} is ${role}. The password is shown this once:\n`)
    runtime.out.write(`${made}\n`)
  }
}
