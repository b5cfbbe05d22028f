import { matching } from './text.ts'

/** SHA-256 of a certificate, as Proxmox shows it. */
export const certificateFingerprint = matching(
  /^[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){31}$/,
  'the SHA-256 fingerprint of the certificate: 32 pairs of digits, AA:BB:…',
)
