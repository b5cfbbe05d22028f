import { z } from 'zod'
import { matching } from '../../fields/text.ts'

/** `192.168.4.200-192.168.4.219`, `10.0.0.0/24` or one address. */
export const addressRange = matching(
  /^[0-9a-fA-F][0-9a-fA-F.:]*(?:\/[0-9]{1,3}|-[0-9a-fA-F][0-9a-fA-F.:]*)?$/,
  'an address, a range like 192.168.4.200-192.168.4.219, or a network like 10.0.0.0/24',
  100,
)

const word = matching(/^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/, 'letters, digits, dots, dashes and slashes', 253)

export const labels = z.record(word, word)

export const className = word

/** `10Gi`, `500Mi`. */
export const quantity = matching(/^[0-9]{1,6}(?:Ki|Mi|Gi|Ti)$/, 'a size, like 10Gi')

export const mailAddress = matching(/^[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9.-]+$/, 'a mail address', 200)

export const hostPath = matching(/^\/(?!.*\.\.)[A-Za-z0-9._/-]+$/, 'a whole path, like /var/lib/data', 300)
