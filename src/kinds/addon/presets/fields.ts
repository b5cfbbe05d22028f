import { z } from 'zod'

/** `192.168.4.200-192.168.4.219`, `10.0.0.0/24` or one address. */
export const addressRange = z
  .string()
  .max(100)
  .regex(/^[0-9a-fA-F][0-9a-fA-F.:]*(?:\/[0-9]{1,3}|-[0-9a-fA-F][0-9a-fA-F.:]*)?$/, {
    error: 'an address, a range like 192.168.4.200-192.168.4.219, or a network like 10.0.0.0/24',
  })

const word = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/, { error: 'letters, digits, dots, dashes and slashes' })

export const labels = z.record(word, word)

export const className = word

/** `10Gi`, `500Mi`. */
export const quantity = z.string().regex(/^[0-9]{1,6}(?:Ki|Mi|Gi|Ti)$/, { error: 'a size, like 10Gi' })

export const mailAddress = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9.-]+$/, { error: 'a mail address' })

export const hostPath = z
  .string()
  .max(300)
  .regex(/^\/(?!.*\.\.)[A-Za-z0-9._/-]+$/, { error: 'a whole path, like /var/lib/data' })
