import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { isRole, ROLES } from '../../server/auth/roles.ts'
import { changeHolder, holderOf, inviteToKeys, type KeyOwner } from '../../server/auth/security-keys.ts'
import { newTotpSecret, totpUri } from '../../server/auth/totp.ts'
import { unguessable } from '../../server/auth/unguessable.ts'
import { endSessions, removeUser, setTotp, setUser, type UsersFile, usersFile } from '../../server/auth/users.ts'
import { credentialFiles } from '../../state/secrets.ts'
import { styleOf, writeData } from '../output.ts'
import { renderTable } from '../render/table.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'

/** Manages the users of the page: `set`, `list`, `totp`, `invite`, `keys`, `sign-out`, `remove`. */
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
        secondFactor: one.totp !== undefined || one.keys !== undefined,
        app: one.totp !== undefined,
        keys: one.keys?.length ?? 0,
      }))
      if (!(await writeData(runtime, options.output, { users: shown })))
        runtime.out.write(
          renderTable(
            ['NAME', 'ROLE', 'SIGNS IN BY', 'SECOND FACTOR'].map((title) => ({ title })),
            shown.map((one) => [one.name, one.role, one.signIn, factorsOf(one)]),
            styleOf(runtime, runtime.out),
          ),
        )
      return EXIT.ok
    }
    case 'invite': {
      const person = await personNamed(users, file, name, options)
      const word = await inviteToKeys(users, person, runtime.clock.now())
      runtime.err.write(
        'With this word a security key can be added on the page, under Sessions, once and within 24 hours:\n',
      )
      runtime.out.write(`${word}\n`)
      return EXIT.ok
    }
    case 'keys':
      await listKeys(runtime, users, await personNamed(users, file, name, options), options)
      return EXIT.ok
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
      throw new UsageError(
        `croft user ${what ?? ''} is not known. Use set, list, totp, invite, keys, sign-out or remove.`,
      )
  }
}

/** Returns the user of that name, or the one with a provider's identity. */
async function personNamed(
  users: UsersFile,
  file: string,
  name: string | undefined,
  { oidcIssuer: issuer, oidcSubject: subject }: Readonly<Record<string, unknown>>,
): Promise<KeyOwner> {
  const { users: all, people } = await users.read()
  if (name === undefined && typeof issuer === 'string' && typeof subject === 'string')
    return {
      issuer,
      subject,
      name: people.find((one) => one.issuer === issuer && one.subject === subject)?.name ?? subject,
    }
  if (name === undefined || !all.some((one) => one.name === name))
    throw new CliError(
      `There is no user ${name ?? ''} in ${file}. Run croft user list to see them, or name somebody of a provider with --oidc-issuer and --oidc-subject.`,
    )
  return { user: name }
}

/** Lists the security keys of a person, or removes one. */
async function listKeys(
  runtime: Runtime,
  users: UsersFile,
  person: KeyOwner,
  { removeKey: id, output }: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { keys } = await holderOf(users, person)
  if (typeof id === 'string') {
    const [found, ...others] = keys.filter((one) => one.id.startsWith(id))
    if (found === undefined || others.length > 0)
      throw new CliError(
        `${others.length > 0 ? 'Several keys begin' : 'No key begins'} with ${id}. Run it without --remove-key to see them.`,
      )
    await changeHolder(
      users,
      person,
      (holder) => ({ ...holder, keys: holder.keys.filter((one) => one.id !== found.id) }),
      true,
    )
    runtime.err.write(`The key "${found.name}" is removed; open sessions have ended.\n`)
    return
  }
  const shown = keys.map((one) => ({
    id: one.id,
    name: one.name,
    page: one.rpId,
    added: new Date(one.addedMs).toISOString(),
    ...(one.usedMs === undefined ? {} : { used: new Date(one.usedMs).toISOString() }),
  }))
  if (!(await writeData(runtime, output, { keys: shown })))
    runtime.out.write(
      renderTable(
        ['ID', 'NAME', 'PAGE', 'ADDED', 'LAST USED'].map((title) => ({ title })),
        shown.map((one) => [one.id.slice(0, 16), one.name, one.page, one.added, one.used ?? 'never']),
        styleOf(runtime, runtime.out),
      ),
    )
}

function factorsOf({ app, keys }: { readonly app: boolean; readonly keys: number }): string {
  const all = [...(app ? ['app'] : []), ...(keys === 0 ? [] : [keys === 1 ? '1 key' : `${keys} keys`])]
  return all.length === 0 ? 'none' : all.join(', ')
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
    // Never take it as an argument: all users of the machine can read those.
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
