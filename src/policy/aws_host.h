/* aws_host.h - which service and region of AWS a host name stands for, so that a signature meant
 * for one cannot be asked for at the other. A table and pure functions. Called by the keeper, which
 * decides, and by egress, which must know how S3 differs. */
#ifndef POLICY_AWS_HOST_H
#define POLICY_AWS_HOST_H

#include <stdbool.h>
#include <stddef.h>

struct aws_host {
        char service[64];
        char region[64]; /* "": the name does not say, as bucket.s3.amazonaws.com */
};

/* aws_host_of(host, out): ${host} is a canonical name. False when it is none of AWS's, or one from
 * which the service cannot be told. The service is the one that is signed, not the first label
 * (bedrock-runtime.REGION signs as bedrock). */
bool aws_host_of(const char *host, struct aws_host *out);

/* aws_service_is_s3(service, n): does it sign paths as S3 does: encoded once, as they are? */
bool aws_service_is_s3(const char *, size_t);

#endif
