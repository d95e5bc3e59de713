/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding and opening the devices; protection domains; the table of operations of a context. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caps.h"
#include "softnic.h"

enum { COMMAND_FILE_SIZE = 4 << 20 }; /* newer drivers map doorbell pages from it */

/* Open contexts, to find the device behind a duplicated command descriptor. */
struct open_context {
	LIST_ENTRY(open_context) link;
	struct context ctx;
};
static LIST_HEAD(, open_context) open_contexts = LIST_HEAD_INITIALIZER(open_contexts);
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

API struct ibv_device **
ibv_get_device_list(int *count)
{
	unsigned i, n = device_scan();
	struct ibv_device **list = calloc(n + 1, sizeof(*list));

	if (list == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		list[i] = &device_at(i)->ib;
	if (count != NULL)
		*count = (int)n;
	trace("get_device_list -> %u", n);
	return list;
}

API void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

API const char *
ibv_get_device_name(struct ibv_device *ib)
{
	return ib->name;
}

API int
ibv_fork_init(void)
{
	return 0;
}

API enum ibv_fork_status
ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

API bool
mlx5dv_is_supported(struct ibv_device *ib)
{
	(void)ib;
	return true;
}

static void
fill_operations(struct verbs_context *verbs)
{
	verbs->context.ops = unknown_context_ops;
	verbs->query_device_ex = v_query_device_ex;
	verbs->query_port = v_query_port;
	verbs->create_cq_ex = v_create_cq_ex;
	verbs->modify_cq = v_modify_cq;
	verbs->create_wq = v_create_wq;
	verbs->modify_wq = v_modify_wq;
	verbs->destroy_wq = v_destroy_wq;
	verbs->create_rwq_ind_table = v_create_rwq_ind_table;
	verbs->destroy_rwq_ind_table = v_destroy_rwq_ind_table;
	verbs->create_qp_ex = v_create_qp_ex;
	verbs->ibv_create_flow = v_create_flow;
	verbs->ibv_destroy_flow = v_destroy_flow;
	verbs->alloc_null_mr = v_alloc_null_mr;
}

/* The command descriptor is only duplicated, compared and mapped, never written to. */
static int
command_file(void)
{
	int fd = memfd_create("softnic-uverbs", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, COMMAND_FILE_SIZE) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A new context of DEV that owns COMMAND_FD; NULL and errno otherwise. */
static struct ibv_context *
context_new(struct device *dev, int command_fd)
{
	struct open_context *open = calloc(1, sizeof(*open));
	struct ibv_context *ctx;
	int rc;

	if (open == NULL)
		return NULL;
	open->ctx.dev = dev;
	open->ctx.verbs.sz = sizeof(open->ctx.verbs);
	fill_operations(&open->ctx.verbs);
	ctx = &open->ctx.verbs.context;
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ctx->device = &dev->ib;
	ctx->num_comp_vectors = 1;
	ctx->cmd_fd = command_fd;
	ctx->async_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (ctx->async_fd < 0) {
		rc = errno;
		free(open);
		errno = rc;
		return NULL;
	}
	pthread_mutex_init(&ctx->mutex, NULL);
	pthread_mutex_lock(&open_lock);
	LIST_INSERT_HEAD(&open_contexts, open, link);
	dev->contexts++;
	pthread_mutex_unlock(&open_lock);
	return ctx;
}

API struct ibv_context *
ibv_open_device(struct ibv_device *ib)
{
	struct device *dev = (struct device *)(void *)ib;
	struct ibv_context *ctx;
	int fd, rc;

	control_lock();
	rc = device_assign_port(dev);
	control_unlock();
	if (rc != 0) {
		errno = rc;
		return NULL;
	}
	fd = command_file();
	if (fd < 0)
		return NULL;
	ctx = context_new(dev, fd);
	if (ctx == NULL) {
		close(fd);
		return NULL;
	}
	thread_start();
	trace("open_device %s: %s, port %d", ib->name, dev->model->name, dev->port);
	return ctx;
}

/* No DevX: every release of the driver then takes the verbs path. */
API struct ibv_context *
mlx5dv_open_device(struct ibv_device *ib, struct mlx5dv_context_attr *attr)
{
	(void)attr;
	trace("mlx5dv_open_device %s -> no DevX", ib->name);
	errno = EOPNOTSUPP;
	return NULL;
}

static struct device *
device_of_descriptor(int fd)
{
	struct open_context *open;
	struct device *dev = NULL;
	struct stat a, b;

	if (fstat(fd, &a) != 0)
		return NULL;
	pthread_mutex_lock(&open_lock);
	LIST_FOREACH (open, &open_contexts, link) {
		if (fstat(open->ctx.verbs.context.cmd_fd, &b) == 0 && a.st_dev == b.st_dev &&
			a.st_ino == b.st_ino) {
			dev = open->ctx.dev;
			break;
		}
	}
	pthread_mutex_unlock(&open_lock);
	return dev;
}

/* Newer releases duplicate the command descriptor and open the same device a second time. */
API struct ibv_context *
ibv_import_device(int fd)
{
	struct device *dev = device_of_descriptor(fd);

	if (dev == NULL) {
		errno = ENODEV;
		return NULL;
	}
	trace("import_device %s", dev->ib.name);
	return context_new(dev, fd);
}

API int
ibv_close_device(struct ibv_context *ctx)
{
	struct context *context = to_context(ctx);
	struct open_context *open = container_of(context, struct open_context, ctx);

	trace("close_device %s", ctx->device->name);
	pthread_mutex_lock(&open_lock);
	LIST_REMOVE(open, link);
	context->dev->contexts--;
	pthread_mutex_unlock(&open_lock);
	pthread_mutex_destroy(&ctx->mutex);
	close(ctx->async_fd);
	close(ctx->cmd_fd);
	free(open);
	return 0;
}

API int
mlx5dv_set_context_attr(struct ibv_context *ctx, enum mlx5dv_set_ctx_attr_type type, void *attr)
{
	struct context *context = to_context(ctx);

	trace("set_context_attr %d", type);
	if (type != MLX5DV_CTX_ATTR_BUF_ALLOCATORS)
		return EOPNOTSUPP;
	context->has_allocators = attr != NULL;
	if (attr != NULL)
		context->allocators = *(const struct mlx5dv_ctx_allocators *)attr;
	return 0;
}

API struct ibv_pd *
ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (pd == NULL)
		return NULL;
	pd->context = ctx;
	pd->handle = next_object_number();
	return pd;
}

API int
ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

/* Link events come from the network interface; the device itself reports none. */
API int
ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	(void)ctx;
	(void)event;
	errno = EAGAIN;
	return -1;
}

API void
ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
