import { type Origin, showOrigin } from '../../../model/declaration.ts'
import { type Check, check, type PeerCertificate } from '../../port.ts'

const DAY_MS = 86_400_000
const SOON_DAYS = 30

/** Explains why the peer is unreachable, before any data was sent. */
export function judgeUnreachable(endpoint: string, code: string, message: string): Check {
  const url = new URL(endpoint)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? '443' : url.port
  const wrong = (word: string, found: string, fix?: readonly string[]) =>
    check('wrong', 'connection', word, found, fix === undefined ? {} : { fix })
  const usual = `Proxmox listens on 8006: write endpoint: https://${url.hostname}:8006`
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return wrong('name-unknown', `the name ${host} cannot be resolved (${code})`, [
        `getent hosts ${host}`,
        'correct the name in spec.endpoint, or write the address there',
      ])
    case 'ECONNREFUSED':
      return wrong('refused', `${host} is there, and nothing listens on port ${port}`, [
        ...(port === '8006' ? [] : [usual]),
        `on ${host}: systemctl restart pveproxy`,
      ])
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return wrong('timeout', `${host} does not answer on port ${port} (${code})`, [
        `ping ${host}`,
        `nc -vz ${host} ${port}`,
        'switch the host on, or let the firewall pass this port',
      ])
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return wrong('not-tls', `what listens on port ${port} of ${host} does not speak TLS`, [usual])
    default:
      return wrong('unreachable', `${host} port ${port} cannot be reached: ${message}`)
  }
}

/** Judges the certificate by the pinned fingerprint and its expiry, before any token is sent. */
export function judgeCertificate(
  shown: PeerCertificate,
  pinned: string | undefined,
  origin: Origin,
  nowMs: number,
): readonly Check[] {
  const identity = judgeIdentity(shown, pinned, origin)
  const time = judgeTime(shown, nowMs)
  return time === undefined ? [identity] : [identity, time]
}

function judgeIdentity(shown: PeerCertificate, pinned: string | undefined, origin: Origin): Check {
  const line = `fingerprint: "${shown.fingerprint}"`
  const where = `in ${showOrigin(origin)} under spec`
  if (pinned !== undefined) {
    if (bare(pinned) === bare(shown.fingerprint))
      return check('ok', 'certificate', 'pinned', `the certificate is the pinned one`)
    return check(
      'wrong',
      'certificate',
      'wrong-certificate',
      'the certificate is not the pinned one; no token was sent',
      {
        authentication: true,
        details: [`shown:  ${shown.fingerprint}`, `pinned: ${pinned}`],
        fix: [
          'look on the host itself which one is right: openssl x509 -in /etc/pve/local/pve-ssl.pem -noout -fingerprint -sha256',
          `only if it is the one shown here, write ${where}: ${line}`,
        ],
      },
    )
  }
  const fix = [
    'compare it on the host: openssl x509 -in /etc/pve/local/pve-ssl.pem -noout -fingerprint -sha256',
    `write ${where}: ${line}`,
  ]
  if (shown.distrust === undefined)
    return check('warning', 'certificate', 'not-pinned', 'the certificate is trusted by this system and not pinned', {
      fix,
    })
  return check(
    'wrong',
    'certificate',
    'untrusted-certificate',
    `the certificate is neither pinned nor trusted (${shown.distrust}); no token was sent`,
    { authentication: true, details: [`shown: ${shown.fingerprint}`], fix },
  )
}

function judgeTime({ notAfterMs }: PeerCertificate, nowMs: number): Check | undefined {
  const days = Math.floor((notAfterMs - nowMs) / DAY_MS)
  const day = new Date(notAfterMs).toISOString().slice(0, 10)
  const fix = ['on the host: pvecm updatecerts --force && systemctl restart pveproxy', 'then pin the new fingerprint']
  if (notAfterMs <= nowMs)
    return check('wrong', 'certificate', 'certificate-expired', `the certificate expired on ${day}`, { fix })
  if (days >= SOON_DAYS) return undefined
  return check(
    'warning',
    'certificate',
    'certificate-expires',
    `the certificate expires on ${day}, in ${days} ${days === 1 ? 'day' : 'days'}`,
    { fix },
  )
}

function bare(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toUpperCase()
}
