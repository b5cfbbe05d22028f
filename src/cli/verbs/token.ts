import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { LIMITS } from '../../lib/limits.ts'
import { isScope, SCOPES } from '../../server/auth/roles.ts'
import { createToken, revokeToken, tokensFile } from '../../server/auth/tokens.ts'
import { credentialFiles } from '../../state/secrets.ts'
import { styleOf, writeData } from '../output.ts'
import { renderTable } from '../render/table.ts'
import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'

const DAY_MS = 24 * 3_600_000

/** Tokens for programs that use the API: `create`, `list`, `revoke`. */
export const run: Verb = async (runtime, [what, name], options) => {
  const file = (options.file as string | undefined) ?? credentialFiles(runtime.env).tokens
  const tokens = tokensFile(path.resolve(runtime.cwd, file))
  const nowMs = runtime.clock.now()
  switch (what) {
    case 'create': {
      if (name === undefined || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
        throw new UsageError(
          'Name the token: letters, digits, dots and dashes, at most 64. Run croft token create NAME.',
        )
      const scopes = String(options.scopes).split(',')
      const wrong = scopes.find((scope) => !isScope(scope))
      if (wrong !== undefined) throw new UsageError(`--scopes ${wrong} is not known. Use some of ${SCOPES.join(', ')}.`)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const expiresMs = nowMs + lifetimeMs(String(options.expires))
      const wanted = { name, scopes: scopes.filter(isScope), nowMs, expiresMs }
      const made = await createToken(tokens, wanted).catch((error: Error): never => {
        throw new CliError(error.message)
      })
      runtime.err.write(`It may ${scopes.join(', ')} until ${day(expiresMs)}. It is shown this once:\n`)
      runtime.out.write(`${made}\n`)
      return EXIT.ok
    }
    case 'list': {
      const { tokens: all } = await tokens.read()
      const shown = all.map(({ id, name: own, scopes, createdMs, expiresMs }) => ({
        name: own,
        id,
        scopes,
        created: day(createdMs),
        expires: day(expiresMs),
        expired: expiresMs <= nowMs,
      }))
      if (!(await writeData(runtime, options.output, { tokens: shown })))
        runtime.out.write(
          renderTable(
            ['NAME', 'ID', 'SCOPES', 'CREATED', 'EXPIRES'].map((title) => ({ title })),
            shown.map((one) => [
              one.name,
              one.id,
              one.scopes.join(','),
              one.created,
              one.expired ? 'expired' : one.expires,
            ]),
            styleOf(runtime, runtime.out),
          ),
        )
      return EXIT.ok
    }
    case 'revoke':
      if (name === undefined || !(await revokeToken(tokens, name)))
        throw new CliError(`There is no token ${name ?? ''} in ${file}. Run croft token list to see them.`)
      runtime.err.write(`${name} is revoked; it is refused from now on.\n`)
      return EXIT.ok
    default:
      throw new UsageError(`croft token ${what ?? ''} is not known. Use create, list or revoke.`)
  }
}

/** `90d` or `12h`; never for ever. */
function lifetimeMs(text: string): number {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'h' ? 3_600_000 : DAY_MS)
  if (!(ms > 0 && ms <= LIMITS.apiTokenMs))
    throw new UsageError(`--expires ${text} is not a time like 12h or 90d, of at most 366d. Correct it.`)
  return ms
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
