import type { SecretReference } from './secret.ts'

/** One text of a reference: its form, in words for a person. */
export interface ReferenceText {
  readonly pattern: RegExp
  readonly maximum: number
  readonly looksLike: string
  readonly optional?: true
  readonly default?: string
}

/** A person's name for something on a server of secrets. */
const serverName: ReferenceText = {
  pattern: /^[\p{L}\p{N}_.@][\p{L}\p{N}_.@ ()-]*$/u,
  maximum: 200,
  looksLike: 'letters, digits, spaces and . _ @ ( ) -; for other names write the id',
}

const objectName: ReferenceText = {
  pattern: /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  maximum: 253,
  looksLike: 'a name: small letters, digits, dashes and dots, beginning and ending with a letter or digit',
}

/**
 * All forms in which a manifest may name a secret. The kinds' schemas and the check of user data read this table; no
 * text may lead to another place than it says.
 */
export const REFERENCE_FORMS = {
  env: {
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    maximum: 200,
    looksLike: 'the name of an environment variable',
  },
  file: {
    pattern: /^(?:~?\/)(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_./+@-]+$/,
    maximum: 1024,
    looksLike: 'the whole path of a file, like /etc/croft/key or ~/.ssh/id_ed25519',
  },
  sops: {
    file: {
      pattern: /^(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_.][A-Za-z0-9_./+@-]*$/,
      maximum: 1024,
      looksLike: 'the path of a file in the repository, like secrets/proxmox.yaml',
    },
    key: {
      pattern: /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.@-]*$/,
      maximum: 500,
      looksLike: 'the name of a value in it, like token or users.0.password',
    },
  },
  vault: {
    mount: {
      pattern: /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]*[A-Za-z0-9_-]$|^[A-Za-z0-9_]$/,
      maximum: 200,
      looksLike: 'where the engine is mounted, like secret',
      default: 'secret',
    },
    path: {
      pattern: /^(?!.*(?:\.\.|\/\/))[A-Za-z0-9_.@][A-Za-z0-9_./@ -]*$/,
      maximum: 500,
      looksLike: 'the path of a secret, like home/proxmox',
    },
    key: serverName,
  },
  onePassword: { vault: serverName, item: serverName, field: serverName },
  secretRef: {
    name: objectName,
    namespace: { ...objectName, optional: true },
    key: {
      pattern: /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/,
      maximum: 253,
      looksLike: 'the name of a key in a Secret',
    },
  },
} as const satisfies Readonly<Record<string, ReferenceText | Readonly<Record<string, ReferenceText>>>>

/** Parses a person's reference, or returns why it is invalid. */
export function readReference(written: unknown): { readonly reference: SecretReference } | { readonly wrong: string } {
  const names = Object.keys(REFERENCE_FORMS)
  const entries = isMap(written) ? Object.entries(written) : []
  const [name, value] = entries[0] ?? []
  const form = name === undefined || !Object.hasOwn(REFERENCE_FORMS, name) ? undefined : formOf(name)
  if (form === undefined || name === undefined || entries.length !== 1)
    return { wrong: `one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}` }
  if (isText(form)) return fits(value, form) ? made(name, value) : { wrong: `${name}: ${form.looksLike}` }
  if (!isMap(value)) return { wrong: `${name} is a block of ${Object.keys(form).join(', ')}` }
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(form, field))
  if (unknown !== undefined) return { wrong: `${name} has no field ${unknown}` }
  const read: Record<string, unknown> = {}
  for (const [field, text] of Object.entries(form)) {
    const given = value[field] ?? text.default
    if (given === undefined && text.optional) continue
    if (!fits(ofSource(name, field, given), text)) return { wrong: `${name}.${field}: ${text.looksLike}` }
    read[field] = given
  }
  return made(name, read)
}

type Form = ReferenceText | Readonly<Record<string, ReferenceText>>

function formOf(name: string): Form {
  return REFERENCE_FORMS[name as keyof typeof REFERENCE_FORMS]
}

function isText(form: Form): form is ReferenceText {
  return form.pattern instanceof RegExp
}

/** After merging sources an encrypted file has its source in front: `lab:secrets.yaml`. A grant judges the source. */
function ofSource(name: string, field: string, value: unknown): unknown {
  return name === 'sops' && field === 'file' && typeof value === 'string'
    ? value.replace(/^[A-Za-z0-9][\w.-]*:/, '')
    : value
}

function fits(value: unknown, { pattern, maximum }: ReferenceText): value is string {
  return typeof value === 'string' && value.length <= maximum && pattern.test(value)
}

function made(name: string, value: unknown): { readonly reference: SecretReference } {
  return { reference: { [name]: value } as unknown as SecretReference }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
