/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models this library plays, and the ports of this process.
 *
 * A port is a PCI function in the tree EAL looks at (SYSFS_PCI_DEVICES, else the machine's) whose
 * folder holds infiniband/softnicN: reproducers/softnic makes such trees. Real NICs carry other
 * names there and are never touched.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softnic.h"

#define DV_FLAGS_COMMON                                                                            \
	(MLX5DV_CONTEXT_FLAGS_CQE_V1 | MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED |                          \
		MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP | MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD)

/*
 * Capabilities that differ. ConnectX-4 Lx has multi-packet WQEs of the first kind only and wants
 * 512 strides a WQE at least; ConnectX-5 has the enhanced kind and takes 8 strides.
 */
static const struct model models[] = {
	{
		.pci_id = 0x1015,
		.name = "ConnectX-4 Lx",
		.firmware = "14.32.1010",
		.dv_flags = DV_FLAGS_COMMON,
		.min_log_strides = 9,
		.max_rss_table = 2048,
	},
	{
		.pci_id = 0x1017,
		.name = "ConnectX-5",
		.firmware = "16.35.2000",
		.dv_flags = DV_FLAGS_COMMON | MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW,
		.min_log_strides = 3,
		.max_rss_table = 2048,
	},
	{
		.pci_id = 0x1018,
		.name = "ConnectX-5 VF",
		.firmware = "16.35.2000",
		.dv_flags = DV_FLAGS_COMMON | MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW,
		.min_log_strides = 3,
		.max_rss_table = 2048,
	},
};

static struct device devices[MAX_PORTS];
static unsigned device_count;
static struct device *ports[MAX_PORTS];
static unsigned port_count;

static const char *
pci_root(void)
{
	const char *root = getenv("SYSFS_PCI_DEVICES");

	return root != NULL ? root : "/sys/bus/pci/devices";
}

/* Name of the first entry of DIR that begins with PREFIX, into NAME; false when there is none. */
static bool
first_entry(const char *dir, const char *prefix, char *name, size_t size)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool found = false;

	if (d == NULL)
		return false;
	while (!found && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		found = (size_t)snprintf(name, size, "%s", entry->d_name) < size;
	}
	closedir(d);
	return found;
}

static unsigned
read_hex(const char *dir, const char *file)
{
	char path[512];
	unsigned value = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path))
		return 0;
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%x", &value) != 1)
		value = 0;
	fclose(f);
	return value;
}

static const struct model *
find_model(unsigned pci_id)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].pci_id == pci_id)
			return &models[i];
	return NULL;
}

/* The port's MAC address is that of its network interface, which the kernel keeps. */
static int
read_mac(struct device *dev, const char *pci_dir)
{
	char path[512];
	struct ifreq request;
	int fd, rc = 0;

	memset(&request, 0, sizeof(request));
	if ((size_t)snprintf(path, sizeof(path), "%s/net", pci_dir) >= sizeof(path) ||
		!first_entry(path, "", request.ifr_name, sizeof(request.ifr_name)))
		return ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (ioctl(fd, SIOCGIFHWADDR, &request) < 0)
		rc = errno;
	else
		memcpy(dev->mac, request.ifr_hwaddr.sa_data, sizeof(dev->mac));
	close(fd);
	return rc;
}

static bool
fill_names(struct device *dev, const char *pci_dir, const char *name)
{
	struct ibv_device *ib = &dev->ib;

	if ((size_t)snprintf(ib->ibdev_path, sizeof(ib->ibdev_path), "%s/infiniband/%s", pci_dir,
		    name) >= sizeof(ib->ibdev_path))
		return false;
	snprintf(ib->name, sizeof(ib->name), "%s", name);
	snprintf(ib->dev_name, sizeof(ib->dev_name), "uverbs_%s", name);
	snprintf(ib->dev_path, sizeof(ib->dev_path), "/dev/infiniband/uverbs_%s", name);
	ib->node_type = IBV_NODE_CA;
	ib->transport_type = IBV_TRANSPORT_IB;
	return true;
}

/* Take one PCI function when it is one of ours. */
static void
probe(const char *root, const char *address)
{
	char pci_dir[400], ib_dir[512], name[32];
	struct device *dev = &devices[device_count];
	unsigned pci_id;
	int rc;

	if ((size_t)snprintf(pci_dir, sizeof(pci_dir), "%s/%s", root, address) >= sizeof(pci_dir))
		return;
	snprintf(ib_dir, sizeof(ib_dir), "%s/infiniband", pci_dir);
	if (read_hex(pci_dir, "vendor") != 0x15b3 ||
		!first_entry(ib_dir, "softnic", name, sizeof(name)))
		return;
	pci_id = read_hex(pci_dir, "device");
	if (device_count == MAX_PORTS) {
		warn("%s: more than %d ports; this one is left out", address, MAX_PORTS);
		return;
	}
	dev->model = find_model(pci_id);
	if (dev->model == NULL) {
		warn("%s: unknown device 15b3:%04x; left out", address, pci_id);
		return;
	}
	rc = read_mac(dev, pci_dir);
	if (rc != 0 || !fill_names(dev, pci_dir, name)) {
		warn("%s: no usable network interface (%s); left out", address, strerror(rc));
		return;
	}
	dev->port = -1;
	device_count++;
}

/* Look at the PCI tree once; returns how many devices it holds. */
unsigned
device_scan(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	struct dirent **entry;
	int i, n;

	pthread_mutex_lock(&once);
	if (!done) {
		done = true;
		n = scandir(pci_root(), &entry, NULL, alphasort);
		for (i = 0; i < n; i++) {
			probe(pci_root(), entry[i]->d_name);
			free(entry[i]);
		}
		if (n >= 0)
			free(entry);
	}
	pthread_mutex_unlock(&once);
	return device_count;
}

struct device *
device_at(unsigned index)
{
	return index < device_count ? &devices[index] : NULL;
}

struct device *
device_port(unsigned port)
{
	return port < port_count ? ports[port] : NULL;
}

/*
 * Give DEV its port number at the first opening: the driver opens ports in the order in which EAL
 * numbers them. Returns 0 or an errno.
 */
int
device_assign_port(struct device *dev)
{
	int rc;

	if (dev->port >= 0)
		return 0;
	rc = traffic_build(dev);
	if (rc != 0)
		return rc;
	dev->port = (int)port_count;
	ports[port_count++] = dev;
	return 0;
}

bool
device_add_rq(struct device *dev, struct rq *rq)
{
	if (dev->rq_count == MAX_QUEUES)
		return false;
	rq->number = dev->rq_count;
	dev->rq[dev->rq_count++] = rq;
	return true;
}

bool
device_add_sq(struct device *dev, struct sq *sq)
{
	if (dev->sq_count == MAX_QUEUES)
		return false;
	sq->number = dev->sq_count;
	dev->sq[dev->sq_count++] = sq;
	return true;
}

/* Queues go when the port stops, all of them: the numbers need not stay dense in between. */
void
device_remove_rq(struct device *dev, struct rq *rq)
{
	if (rq->number < dev->rq_count && dev->rq[rq->number] == rq)
		dev->rq[rq->number] = NULL;
	while (dev->rq_count > 0 && dev->rq[dev->rq_count - 1] == NULL)
		dev->rq_count--;
}

void
device_remove_sq(struct device *dev, struct sq *sq)
{
	if (sq->number < dev->sq_count && dev->sq[sq->number] == sq)
		dev->sq[sq->number] = NULL;
	while (dev->sq_count > 0 && dev->sq[dev->sq_count - 1] == NULL)
		dev->sq_count--;
}
