/** A value of a setting, as YAML has it. A secret is a reference, never the value itself. */
export type SettingValue =
  | string
  | number
  | boolean
  | readonly SettingValue[]
  | { readonly [name: string]: SettingValue | undefined }

/** An entry in one of an outside system's lists: a pool, a user, a storage entry, a DNS setting. */
export interface SettingSpec {
  /** The definition that lists, reads and writes it. */
  readonly definition: string
  /** Its name in the list. */
  readonly id: string
  readonly host?: string
  /** Further parts of its path: `vmid`, `container`, `user`, `vnet`. */
  readonly scope?: Readonly<Record<string, string>>
  /** By the definition's names. An absent field is not declared and not compared. */
  readonly fields: Readonly<Record<string, SettingValue>>
  /** Which of the fields refer to a secret. */
  readonly secrets?: readonly string[]
  /** Other accepted values of a field. */
  readonly accepts?: Readonly<Record<string, readonly SettingValue[]>>
}

/**
 * How a field is encoded and decoded.
 *
 * - text, prose (for people, any characters of a line or several), number, flag
 * - list: texts in any order, joined by `separator`; repeated: the same, one parameter for each
 * - properties: `a=1,b=2` or, in some answers, an object; blocks: several of them, in any order
 * - seconds: a date, sent as seconds since 1970; numbered: `dns1`, `dns2`, `dns3`
 * - lines: `KEY=value` lines, sent in base64; hosts: a hosts file; pem: a certificate
 * - rules: an ordered list below the thing; entries: an unordered one
 * - secret: a reference; sent, never read or shown
 */
export type FieldType =
  | 'text'
  | 'prose'
  | 'number'
  | 'flag'
  | 'list'
  | 'repeated'
  | 'properties'
  | 'blocks'
  | 'seconds'
  | 'numbered'
  | 'lines'
  | 'hosts'
  | 'pem'
  | 'rules'
  | 'entries'
  | 'secret'

export interface Field {
  readonly type: FieldType
  /** One line for the documentation. */
  readonly about: string
  /** The API's name, if it differs from the field's. */
  readonly api?: string
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly separator?: string
  /** Inside properties, blocks, rules and entries. */
  readonly parts?: Readonly<Record<string, Field>>
  /** Its value if an answer lacks it. */
  readonly absent?: SettingValue
  /** A flag that any sent value switches on: to switch it off, delete it. */
  readonly offByAbsence?: true
  readonly required?: true
  /** Only things of these types have it: Proxmox refuses it for others. */
  readonly types?: readonly string[]
  /** Cannot be changed after creation. */
  readonly fixed?: true
  /** Never in an answer: sent at creation and not compared. */
  readonly unread?: true
}

/** One write. Paths contain `{host}`, `{id}` and the names of the scope; each value is escaped. */
export interface RestWrite {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The parameter for the id. */
  readonly id?: string
  readonly with?: Readonly<Record<string, string>>
  /** Parameters copied from the live object: they must be sent even if unchanged. */
  readonly carry?: readonly string[]
  /** All known fields are sent, not only changed ones: an omitted field would be lost or refused. */
  readonly whole?: true
  /** The answer's digest is sent back, so that the write fails if the object changed in between. */
  readonly digest?: true
  readonly disruption?: 'data-loss'
}

/** How to read one list. Definitions of the same list share this. */
export interface ListReading {
  /** `/pools`, `/nodes/{host}/network`, `{firewall}/rules`. */
  readonly path: string
  readonly query?: string
  /** The form of the rows in the answer; by default a plain list. */
  readonly rows?: 'one' | 'rules' | 'apt' | 'acl' | 'changes' | 'pending'
  /** The list lacks fields: each entry is read separately. `rules` and `entries` store that answer under their name. */
  readonly item?: { readonly path: string; readonly as?: 'rules' | 'entries' }
  /** An error that only means that the list does not exist here. */
  readonly emptyWhen?: string
  /** A row with this field is being deleted, and counts as gone. */
  readonly leavingBy?: string
}

/** All that is specific to one type of setting. Listing, comparing and writing are generic. */
export interface Definition {
  readonly name: string
  /** Its kind in croft.dev/v1alpha1. */
  readonly kind: string
  readonly noun: string
  readonly about: string
  readonly list: ListReading
  /** The fields of a row that form its id. */
  readonly key: readonly string[]
  /** The rows of the list that have this type. */
  readonly only?: Readonly<Record<string, string>>
  /** What the path needs in addition to the id. `?` marks optional parts. */
  readonly scope?: readonly ('host' | 'host?' | 'vmid' | 'vmid?' | 'container?' | 'user' | 'vnet')[]
  /** The cluster and guests have such things, a host does not. */
  readonly notOfHosts?: true
  /** Which fields of a declaration give the id: by default metadata.name or `id`. */
  readonly identity?: { readonly constant: string } | { readonly fields: readonly string[]; readonly join: string }
  /** Absent: the thing always exists and is never created. */
  readonly create?: RestWrite
  readonly update?: RestWrite
  /** Absent: the API cannot or must not delete it, so croft only forgets it. */
  readonly remove?: RestWrite
  /** How to unset a field: by `delete=name`, or by sending it empty. */
  readonly unset: 'delete' | 'empty'
  readonly fields: Readonly<Record<string, Field>>
  /** Changes are pending until this call. */
  readonly apply?: { readonly path: string; readonly noun: string }
  /** Only root@pam may write it, no token: a person runs this command instead. */
  readonly rootOnly?: string
  /** The privileges that a token needs for it. */
  readonly privileges: readonly string[]
  /** It stays when its declaration is removed, unless declared otherwise. */
  readonly deletion?: 'Orphan'
  /** A complete spec, for the documentation and the tests. */
  readonly example: Readonly<Record<string, SettingValue>>
  readonly exampleName?: string
}
