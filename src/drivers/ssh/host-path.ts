/**
 * Where programs are found on a host. Said by us: an /etc/environment that leaves out the sbin folders is read by every
 * session, and then nobody finds useradd.
 */
export const HOST_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH'
