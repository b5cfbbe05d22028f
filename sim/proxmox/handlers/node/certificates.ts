import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { parseProperties } from '../../../world/properties.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

const AT = '/nodes/{node}/certificates'

/** The custom certificate of a host, uploaded or ordered. */
export const nodeCertificateRoutes: Routes = {
  [`POST ${AT}/custom`]: (call) => {
    const things = shelf(call.world, `node/${hostOf(call).name}`)
    const before = things.get('certificate')
    if (call.params.key === undefined && before === undefined)
      throw badParameter('key', 'Attempted to upload custom certificate without (existing) key.')
    if (before !== undefined && call.params.force !== '1')
      throw failed('Custom certificate file exists but force flag is not set.')
    const kept = textOf(before?.key)
    const key = call.params.key ?? kept
    const own = infoOf(withoutText(param(call, 'certificates')), withoutText(key), certificateFile(call))
    things.set('certificate', { ...own, key })
    return own
  },
  [`DELETE ${AT}/custom`]: (call) => {
    shelf(call.world, `node/${hostOf(call).name}`).delete('certificate')
    return null
  },
}

/** Returns the public facts of the custom certificate. */
export function ownCertificate(call: Call): readonly Thing[] {
  const own = ownOf(call)
  if (own === undefined) return []
  const { key: _, ...shown } = own
  return [shown]
}

function ownOf(call: Call): Thing | undefined {
  return shelf(call.world, `node/${hostOf(call).name}`).get('certificate')
}

function certificateFile(call: Call): string {
  return `/etc/pve/nodes/${hostOf(call).name}/pveproxy-ssl.pem`
}

/** What a host's configuration says about certificates. Refuses a domain that is named twice. */
export function acmeOf(call: Call, config: Thing): { readonly account: string; readonly domains: readonly string[] } {
  const { named } = parseProperties(textOf(config.acme))
  const places = new Map<string, string>()
  for (const word of (named.get('domains') ?? '').split(';')) {
    const domain = word.toLowerCase()
    if (domain === '') continue
    if (places.has(domain)) throw failed(`duplicate domain '${domain}' in ACME config properties`)
    places.set(domain, 'acme')
  }
  for (const name of Object.keys(config)
    .filter((key) => /^acmedomain\d$/.test(key))
    .sort()) {
    const written = parseProperties(textOf(config[name]), 'domain')
    const domain = written.main.toLowerCase()
    const before = places.get(domain)
    if (before !== undefined)
      throw failed(`duplicate domain '${domain}' in ACME config properties '${name}' and '${before}'`)
    const plugin = written.named.get('plugin') ?? 'standalone'
    if (plugin !== 'standalone' && !shelf(call.world, 'acme/plugins').has(plugin))
      throw failed(`plugin '${plugin}' for domain '${domain}' not found!`)
    places.set(domain, name)
  }
  return { account: named.get('account') ?? 'default', domains: [...places.keys()] }
}

/** Text before the first block is left out. */
function withoutText(pem: string): string {
  return pem.slice(Math.max(0, pem.indexOf('-----BEGIN ')))
}

function infoOf(pem: string, key: string, file: string): Thing {
  let found: X509Certificate
  try {
    found = new X509Certificate(pem)
  } catch {
    throw failed(`Setting certificate files failed - unable to read certificate from '${file}'`)
  }
  // The library says the number of its process first.
  if (!fits(found, key))
    throw failed('Setting certificate files failed - 1019: key does not match the certificate (chain) ()')
  const details = found.publicKey.asymmetricKeyDetails
  return {
    filename: 'pveproxy-ssl.pem',
    fingerprint: found.fingerprint256,
    subject: oneLine(found.subject),
    issuer: oneLine(found.issuer),
    san: namesOf(found),
    notbefore: Math.floor(Date.parse(found.validFrom) / 1000),
    notafter: Math.floor(Date.parse(found.validTo) / 1000),
    pem: found.toString(),
    ...keyKind(found.publicKey, details?.modulusLength),
  }
}

function fits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

const BITS: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 }

function keyKind(key: KeyObject, bits: number | undefined): Thing {
  if (key.asymmetricKeyType === 'rsa') return { 'public-key-type': 'rsaEncryption', 'public-key-bits': bits ?? 0 }
  if (key.asymmetricKeyType === 'ec')
    return {
      'public-key-type': 'id-ecPublicKey',
      'public-key-bits': BITS[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 256,
    }
  return { 'public-key-type': (key.asymmetricKeyType ?? '').toUpperCase(), 'public-key-bits': 256 }
}

/** Joins lines such as `CN=a` into `/CN=a`. */
function oneLine(name: string): string {
  return name
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `/${line}`)
    .join('')
}

function namesOf({ subjectAltName }: X509Certificate): readonly string[] {
  return (subjectAltName ?? '').split(', ').flatMap((part) => {
    const [, value] = /^(?:DNS|IP Address):(.*)$/.exec(part) ?? []
    return value === undefined ? [] : [value]
  })
}
